"""Which attacks of a battery are worth their passes: judged on a sample that ran them all, applied to the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from ..metrics.intervals import SHARE, Interval, interval_of
from ..metrics.scores import image_accuracy, image_miou
from ..results.run import Run
from ..results.study import AttackSelection
from ..runtime import Cell

WHOLE = ("all", "perturbed")  # zone and state
ROUNDING = 1e-9  # of a sum of costs that is just the whole


@dataclass(frozen=True)
class SelectionRule:
    """When an attack is worth its passes."""

    tolerance: float = 0.0  # by which the kept attacks' worst case may stay above that of all
    core: int = 0  # so many of the first attacks are kept whatever the sample says, if they can be paid
    spend: float = 1.0  # most of the passes that all attacks cost
    most_passes: float = np.inf  # of an image, whatever share that is

    def keep(self, scores: np.ndarray, costs: np.ndarray) -> list[int]:
        """Add the attack that lowers accuracy and mIoU most, until no more is to be gained; clean is there already."""
        most = min(self.most_passes, self.spend * costs.sum() * (1 + ROUNDING))
        kept = [attack for attack in range(min(self.core, len(costs))) if costs[: attack + 1].sum() <= most]
        floor, current = scores.min(0).mean(0), scores[[0, *(1 + attack for attack in kept)]].min(0)
        while len(kept) < len(costs) and (current.mean(0) - floor > self.tolerance).any():
            gains = (current - np.minimum(current, scores[1:])).mean((1, 2))
            affordable = costs + costs[kept].sum() <= most
            gains[~affordable | np.isin(np.arange(len(costs)), kept)] = -1
            best = int(gains.argmax())
            if gains[best] <= 0:
                break
            kept.append(best)
            current = np.minimum(current, scores[1 + best])
        return kept or [int(scores[1:].mean((1, 2)).argmin())]

    def left_out(self, scores: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """Return what the choice made without an image loses on it: an honest estimate for images never audited."""
        losses = []
        for image in range(scores.shape[1]):
            others = np.delete(scores, image, axis=1)
            kept = self.keep(others, costs) if others.shape[1] else []
            reached = scores[[0, *(1 + number for number in kept)], image].min(0)
            losses.append(reached - scores[:, image].min(0))
        return np.array(losses)


def choose(run: Run, clean: Cell, cells: Sequence[Cell], rule: SelectionRule) -> AttackSelection:
    """Keep the attacks that the rule finds worth it on the images that all of them have answered or were spared.

    A spared image is lost to the attack that finished it and to no later one, which might have failed: for those it
    stands as if clean."""
    fine, *known = ({*run.ids(cell, "ok"), *_spared(run, cell)} for cell in (clean, *cells))
    ids = sorted(fine.intersection(*known))
    before = _scores(run, clean, ids)
    attacked = [_scores(run, cell, ids) for cell in cells]
    scores = np.stack([before, *(np.where(np.isnan(after), before, after) for after in attacked)])
    costs = np.array([_passes(run, cell) for cell in cells])
    kept, left = rule.keep(scores, costs), rule.left_out(scores, costs)
    return AttackSelection(
        kept=tuple(cells[attack].key for attack in kept),
        dropped=tuple(cell.key for attack, cell in enumerate(cells) if attack not in kept),
        images=len(ids),
        loss_accuracy=_interval(left[:, 0]),
        loss_nmiou=_interval(left[:, 1]),
    )


def _interval(losses: np.ndarray) -> Interval:
    return interval_of(lambda weights: weights @ losses / weights.sum(1), len(losses), within=SHARE)


def _scores(run: Run, cell: Cell, ids: Sequence[str]) -> np.ndarray:
    """Return image accuracy and image mIoU, each from the goal that is best for it; NaN for a spared image."""
    counts = {goal: table for (goal, zone, state), table in run.counts(cell, ids).items() if (zone, state) == WHOLE}
    nothing = np.zeros((len(ids), len(cell.dataset_info["classes"]), 3), dtype=np.int64)
    accuracy, miou = (counts.get(goal, counts.get("any", nothing)) for goal in ("accuracy", "miou"))
    return np.stack([image_accuracy(accuracy), image_miou(miou)], axis=-1)


def _spared(run: Run, cell: Cell) -> list[str]:
    """Return the images that another attack had finished."""
    images = run.images(cell)
    ids: list[str] = images.filter(pc.not_equal(images["finisher"], ""))["image"].to_pylist()
    return ids


def _passes(run: Run, cell: Cell) -> float:
    """Count forwards and backwards of an image not spared: on average, or the most where the sample spared all."""
    images = run.images(cell)
    images = images.filter(pc.equal(images["finisher"], ""))
    spent = dict(
        zip(images["image"].to_pylist(), pc.add(images["forwards"], images["backwards"]).to_pylist(), strict=True)
    )
    return float(np.mean(list(spent.values()) or [sum(run.perturbations[cell.key].passes())]))
