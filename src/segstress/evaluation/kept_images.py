"""Kept images judged again: ball, box, region, lengths of the delta, and counts by a fresh pass of the model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
import torch

from ..attacks.multi_attack import MultiAttack, first_fooled, several
from ..attacks.search.feasible import norms
from ..core import Batch, Result, seeded
from ..data import resize, stack
from ..metrics.counts import ACTUAL, HITS, count
from ..metrics.objects import objects
from ..results.part_frames import example_number
from ..results.run import Run
from ..runtime import Cell
from .recheck import faults
from .referee import Referee
from .repeating import Again, agree, differs

LENGTHS = 1e-3  # relative error that a stored length of a delta may have

Tallies = Mapping[tuple[str, str], np.ndarray]  # (image, goal) -> (classes, 3), all valid pixels


@dataclass(frozen=True)
class Recheck:
    """What kept images showed when they were judged again."""

    problems: tuple[str, ...]
    seen: Mapping[tuple[str, str], tuple[int, int, int]]  # (image, goal) -> pixels right, right once rounded, counted
    doubtful: frozenset[str] = frozenset()  # images whose counts differ by so little that rounding might do it


def recheck(again: Again, referee: Referee) -> Recheck:
    """Judge every kept image again: ball, box, region, lengths of the delta, and counts."""
    run, cell = again.run, again.cell
    stored, positions = _stored(run, cell), _positions(run, cell)
    rows = {(row["image"], row["goal"]): row for row in run.images(cell).to_pylist()}
    problems: list[str] = []
    seen: dict[tuple[str, str], tuple[int, int, int]] = {}
    doubtful: set[str] = set()
    random = _draws(referee)
    for kept in run.store.batches(cell, "kept"):
        for key, image in kept.items():
            goal, _, id_ = key.partition("|")
            batch = _batch(referee, id_)
            pixels = torch.from_numpy(image)[None].to(batch.images)
            problems += [f"{id_} ({goal}): {fault}" for fault in _faults(referee, batch, goal, pixels)]
            problems += _lengths(rows.get((id_, goal), {}), id_, goal, pixels - batch.images)
            position, size = positions.get(id_, (0, 1))
            tally = _count(referee, batch, _predict(referee, pixels.expand(size, -1, -1, -1))[position : position + 1])
            tally_rounded = _count(referee, batch, _predict(referee, referee.data.depth.round(pixels)))
            before, after = ({goal: value} if value is not None else {} for value in (stored.get((id_, goal)), tally))
            fault = "" if random and size > 1 else differs(id_, goal, before, after, exact=False)
            problems += [fault] if fault else []
            if goal in before and not fault and not agree(before[goal], tally, exact=True):
                doubtful.add(id_)
            seen[id_, goal] = (tally[:, HITS].sum(), tally_rounded[:, HITS].sum(), tally[:, ACTUAL].sum())
        if several(referee.perturbation):
            wrong, near = _together(referee, referee.perturbation, kept, stored)
            problems += wrong
            doubtful |= near
    return Recheck(tuple(problems), seen, frozenset(doubtful))


def _draws(referee: Referee) -> bool:
    """Tell whether the model draws: then what it says of an image depends on those beside it, and is repeated whole."""
    images = _batch(referee, referee.data.ids()[0]).images.to(referee.numerics.torch_dtype())
    answers = []
    for seed in (1, 2):
        with seeded(seed, "", "verify"), torch.no_grad():
            answers.append(referee.model(images))
    return not torch.equal(*answers)


def _positions(run: Run, cell: Cell) -> dict[str, tuple[int, int]]:
    """Return the position of every image among those of its size that met the model together, and how many they were.

    Rounding depends on both, hardly on what the others show: an image is judged again among copies of itself."""
    images = run.images(cell)
    images = images.filter(pc.equal(images["status"], "ok"))
    sizes = zip(images["height"].to_pylist(), images["width"].to_pylist(), strict=True)
    size_of = dict(zip(images["image"].to_pylist(), sizes, strict=True))
    positions = {}
    for _, batch in run.store.together(cell):
        groups: dict[tuple[int, int], list[str]] = {}
        for id_ in (id_ for id_ in batch if id_ in size_of):
            groups.setdefault(size_of[id_], []).append(id_)
        positions.update(
            {id_: (position, len(group)) for group in groups.values() for position, id_ in enumerate(group)}
        )
    return positions


def _lengths(row: Mapping[str, Any], id_: str, goal: str, delta: torch.Tensor) -> Iterator[str]:
    """Measure a kept delta again; a search for smallness stands or falls with it."""
    for norm, length in norms(delta).items():
        stored, measured = row.get(norm), float(length)
        if stored is not None and not math.isclose(stored, measured, rel_tol=LENGTHS, abs_tol=1e-6):
            yield f"{id_} ({goal}): stored {norm} {stored:.6g}, measured again {measured:.6g}"


def recheck_parts(run: Run, cell: Cell, referee: Referee) -> Recheck:
    """Judge kept erased objects again, each in the image that was made for it."""
    problems, seen = [], {}
    for key, image in (item for kept in run.store.batches(cell, "kept") for item in kept.items()):
        goal, _, id_ = key.partition("|")
        batch = _batch(referee, id_)
        pixels = torch.from_numpy(image)[None].to(batch.images)
        problems += [f"{id_} ({goal}): {fault}" for fault in _faults(referee, batch, goal, pixels)]
        part = _object(referee, batch, example_number(key))
        stands, still = (
            _right(referee, batch, part, version) for version in (pixels, referee.data.depth.round(pixels))
        )
        problems += [f"{id_} ({goal}): {stands} pixels of the object are right"] if stands else []
        seen[id_, key] = (stands, still, int(part.sum()))
    return Recheck(tuple(problems), seen)


def _object(referee: Referee, batch: Batch, number: int) -> torch.Tensor:
    """Return the pixels of one object of an image."""
    true_objects = objects(batch.labels[0].cpu().numpy(), batch.valid[0].cpu().numpy(), referee.data.background)
    return torch.from_numpy(true_objects.components == number + 1).to(batch.labels.device)


def _right(referee: Referee, batch: Batch, part: torch.Tensor, pixels: torch.Tensor) -> int:
    return int((part & (_predict(referee, pixels) == batch.labels)).sum())


def _faults(referee: Referee, batch: Batch, goal: str, pixels: torch.Tensor) -> list[str]:
    """Check ball, box and region of a kept image."""
    change = referee.perturbation
    inside = None if change.threat is None else change.region  # a corruption may act before images are resized
    zones = {} if inside is None else {"inside": inside.mask(batch, referee.seed)}
    result = Result(goal, pixels, torch.zeros(len(batch)))
    return [fault for fault in faults(change, batch, result, zones) if fault]


def _batch(referee: Referee, id_: str) -> Batch:
    return stack([resize(referee.data.read(id_), referee.data.resize)]).to(referee.numerics.device)


def _together(
    referee: Referee, change: MultiAttack, kept: Mapping[str, np.ndarray], stored: Tallies
) -> tuple[list[str], set[str]]:
    """Check what several attacks have fooled together, pixel by pixel from the image that each of them left.

    Return what is wrong, and the images whose counts differ by so little that rounding might do it."""
    problems, doubtful = [], set()
    for id_ in sorted({key.partition("|")[2] for key in kept}):
        batch = referee.towards_goal(_batch(referee, id_))
        together = _predict(referee, batch.images)
        again = {}
        for number in range(1, change.number + 1):
            pixels = torch.from_numpy(kept[f"attack-{number}|{id_}"])[None].to(batch.images)
            together = first_fooled(batch, together, _predict(referee, pixels))
            again[id_, f"cumulative-{number}"] = _count(referee, batch, together)
        if change.every_iterate:  # which also fools what only steps on the way did, and those are not kept
            more = {key for key, tally in again.items() if stored[key][:, HITS].sum() > tally[:, HITS].sum()}
            again = {key: again[key] for key in more if batch.goal is None}  # a goal may be right
        for (image, goal), tally in again.items():
            before = {goal: stored[image, goal]} if (image, goal) in stored else {}
            fault = differs(image, goal, before, {goal: tally}, exact=referee.numerics.batch_size == 1)
            problems += [fault] if fault else []
            if not fault and not agree(before[goal], tally, exact=True):
                doubtful.add(image)
    return problems, doubtful


def _predict(referee: Referee, pixels: torch.Tensor) -> torch.Tensor:
    return referee.predict(pixels.to(referee.numerics.torch_dtype()))


def _count(referee: Referee, batch: Batch, prediction: torch.Tensor) -> np.ndarray:
    return count(prediction, batch.labels, batch.valid, len(referee.data.classes))[0].cpu().numpy()


def _stored(run: Run, cell: Cell, zone: str = "all") -> dict[tuple[str, str], np.ndarray]:
    """Read stored counts of the perturbed prediction over a zone, of every image and goal that has any."""
    ids = run.ids(cell, "ok")
    tables = {
        goal: table for (goal, of, state), table in run.counts(cell, ids).items() if (of, state) == (zone, "perturbed")
    }
    return {
        (id_, goal): tally
        for goal, table in tables.items()
        for id_, tally in zip(ids, table, strict=True)
        if tally.any()
    }
