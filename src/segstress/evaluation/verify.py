"""Evidence that anyone can re-check: stored images judged again, and a tenth of the rest attacked again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..attacks.alone import Alone, by_parts
from ..attacks.multi_attack import first_wrong
from ..core import Batch, Result, seed_of
from ..data import resize, stack
from ..metrics.counts import ACTUAL, HITS, count
from ..metrics.objects import objects
from ..results.part_frames import example_number
from ..results.run import Run
from ..runtime import Cell, Shard
from .recheck import faults
from .referee import Referee
from .worker import Worker

SHARE = 0.1  # of the images without kept pictures that are attacked again
SLACK = 0.005  # share of pixels that may differ where batches of another size change the rounding


@dataclass(frozen=True)
class Verdict:
    """What the re-check of one cell found."""

    cell: str
    checked: int  # results judged again from kept images
    repeated: int  # images attacked again from their seeds
    faults: tuple[str, ...]
    accuracy: float  # of the kept images, as stored
    accuracy_8bit: float  # of the same images after rounding to 8 bits

    @property
    def sound(self) -> bool:
        """Whether all that was looked at agrees."""
        return not self.faults


Counts = Mapping[tuple[str, str], np.ndarray]  # (image, goal) -> (classes, 3), all valid pixels


def verify(folder: Path) -> list[Verdict]:
    """Referee a run's results again, cell by cell."""
    run = Run(folder)
    cells = run.cells
    torch.set_num_threads(run.plan.numerics.threads)
    worker = Worker(folder, run.plan.numerics, frozenset(), tuple(run.plan.plugins))
    return [_verify(run, cell, worker) for cell in cells]


def _verify(run: Run, cell: Cell, worker: Worker) -> Verdict:
    stored = _stored(run, cell)
    referee = worker.referee(cell)
    if by_parts(referee.perturbation):
        return _verify_parts(run, cell, worker, referee, referee.perturbation)
    problems: list[str] = []
    seen: dict[str, tuple[int, int, int]] = {}
    for kept in run.store.batches(cell, "kept"):
        for key, image in kept.items():
            goal, _, id_ = key.partition("|")
            batch = _batch(referee, id_)
            pixels = torch.from_numpy(image)[None].to(batch.images)
            problems += [f"{id_} ({goal}): {fault}" for fault in _faults(referee, batch, goal, pixels)]
            tally, tally_8bit = (_tally(referee, batch, version) for version in (pixels, (pixels * 255).round() / 255))
            problems += _differences({(id_, goal): tally}, stored, worker.numerics.batch_size)
            seen[key] = (tally[:, HITS].sum(), tally_8bit[:, HITS].sum(), tally[:, ACTUAL].sum())
        if cell.perturbation["kind"] == "multi-attack":
            problems += _together(referee, cell.perturbation, kept, stored)
    repeated = _tenth(cell, {id_ for id_, _ in stored} - {key.partition("|")[2] for key in seen})
    problems += _differences(
        _counts(_repeat(worker, cell, repeated).counts, len(referee.data.classes)), stored, worker.numerics.batch_size
    )
    right, right_8bit, total = np.sum(list(seen.values()), axis=0) if seen else (math.nan, math.nan, 1)
    return Verdict(cell.label, len(seen), len(repeated), tuple(problems), right / total, right_8bit / total)


def _tenth(cell: Cell, ids: Iterable[str]) -> tuple[str, ...]:
    """The images that are attacked again."""
    return tuple(id_ for id_ in sorted(ids) if seed_of(cell.seed, id_, "verify") < SHARE * 2**63)


def _verify_parts(run: Run, cell: Cell, worker: Worker, referee: Referee, alone: Alone) -> Verdict:
    """Parts attacked alone: the erased objects that were kept, judged again, and all parts of a tenth of the images."""
    problems, seen = [], []
    for key, image in (item for kept in run.store.batches(cell, "kept") for item in kept.items()):
        goal, _, id_ = key.partition("|")
        batch = _batch(referee, id_)
        pixels = torch.from_numpy(image)[None].to(batch.images)
        problems += [f"{id_} ({goal}): {fault}" for fault in _faults(referee, batch, goal, pixels)]
        part = _object(referee, batch, example_number(key))
        stands, stands_8bit = (
            _right(referee, batch, part, version) for version in (pixels, (pixels * 255).round() / 255)
        )
        problems += [f"{id_} ({goal}): {stands} pixels of the object are right"] if stands else []
        seen.append((stands, stands_8bit, int(part.sum())))
    zone = "all" if alone.parts == "objects" else "sampled"
    stored = _stored(run, cell, zone)
    ids = sorted({id_ for id_, _ in stored})
    repeated = _tenth(cell, ids) or tuple(ids[:1])  # of pixels no picture is kept, so some image must be attacked again
    again = _counts(_repeat(worker, cell, repeated).counts, len(referee.data.classes), zone)
    problems += _differences(again, stored, worker.numerics.batch_size)
    right, right_8bit, total = np.sum(seen, axis=0) if seen else (math.nan, math.nan, 1)
    return Verdict(cell.label, len(seen), len(repeated), tuple(problems), right / total, right_8bit / total)


def _object(referee: Referee, batch: Batch, number: int) -> torch.Tensor:
    """The pixels of one object of an image."""
    true_objects = objects(batch.labels[0].cpu().numpy(), batch.valid[0].cpu().numpy(), referee.data.background)
    return torch.from_numpy(true_objects.components == number + 1).to(batch.labels.device)


def _right(referee: Referee, batch: Batch, part: torch.Tensor, pixels: torch.Tensor) -> int:
    return int((part & (_predict(referee, pixels) == batch.labels)).sum())


def _faults(referee: Referee, batch: Batch, goal: str, pixels: torch.Tensor) -> list[str]:
    """Ball, box and region of a kept image."""
    change = referee.perturbation
    inside = None if change.threat is None else change.region  # a corruption may act before images are resized
    zones = {} if inside is None else {"inside": inside.mask(batch, referee.seed)}
    result = Result(goal, pixels, torch.zeros(len(batch)))
    return [fault for fault in faults(change, batch, result, zones) if fault]


def _batch(referee: Referee, id_: str) -> Batch:
    return stack([resize(referee.data.read(id_), referee.data.resize)]).to(referee.numerics.device)


def _together(referee: Referee, spec: Mapping[str, Any], kept: Mapping[str, np.ndarray], stored: Counts) -> list[str]:
    """What several attacks have fooled together, pixel by pixel from the image that each of them left."""
    problems = []
    for id_ in sorted({key.partition("|")[2] for key in kept}):
        batch = _batch(referee, id_)
        together = _predict(referee, batch.images)
        again = {}
        for number in range(1, spec["number"] + 1):
            pixels = torch.from_numpy(kept[f"attack-{number}|{id_}"])[None].to(batch.images)
            together = first_wrong(batch, together, _predict(referee, pixels))
            again[id_, f"cumulative-{number}"] = _count(referee, batch, together)
        if spec["every_iterate"]:  # which also fools what only steps on the way did, and those are not kept
            again = {key: tally for key, tally in again.items() if stored[key][:, HITS].sum() > tally[:, HITS].sum()}
        problems += _differences(again, stored, referee.numerics.batch_size)
    return problems


def _tally(referee: Referee, batch: Batch, pixels: torch.Tensor) -> np.ndarray:
    return _count(referee, batch, _predict(referee, pixels))


def _predict(referee: Referee, pixels: torch.Tensor) -> torch.Tensor:
    return referee.predict(pixels.to(referee.numerics.torch_dtype()))


def _count(referee: Referee, batch: Batch, prediction: torch.Tensor) -> np.ndarray:
    return count(prediction, batch.labels, batch.valid, len(referee.data.classes))[0].cpu().numpy()


def _repeat(worker: Worker, cell: Cell, ids: Sequence[str]) -> Shard:
    return worker.evaluate(cell, ids)


def _stored(run: Run, cell: Cell, zone: str = "all") -> dict[tuple[str, str], np.ndarray]:
    """Stored counts of the perturbed prediction over a zone, of every image and goal that has any."""
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


def _counts(rows: Sequence[Mapping[str, Any]], classes: int, zone: str = "all") -> dict[tuple[str, str], np.ndarray]:
    """Counts of the perturbed prediction over all valid pixels, or over those of another zone."""
    tallies: dict[tuple[str, str], np.ndarray] = {}
    for row in rows:
        if (row["state"], row["zone"]) == ("perturbed", zone):
            tally = tallies.setdefault((row["image"], row["goal"]), np.zeros((classes, 3), dtype=np.int64))
            tally[row["class"]] = row["hits"], row["predicted"], row["actual"]
    return tallies


def _differences(again: Counts, stored: Counts, batch_size: int) -> list[str]:
    """Where counting again gives other numbers than those stored."""
    problems = []
    for (id_, goal), tally in again.items():
        if (id_, goal) not in stored:
            problems.append(f"{id_} ({goal}): no stored counts")
            continue
        allowed = 0 if batch_size == 1 else SLACK * tally[:, ACTUAL].sum()
        before = stored[id_, goal]
        if np.abs(tally - before).max() > allowed:
            right, now = before[:, HITS].sum(), tally[:, HITS].sum()
            problems.append(f"{id_} ({goal}): stored {right} pixels right, counted again {now}")
    return problems
