"""Evidence that anyone can re-check: files, seal, tables, stored images and a fresh share of the attacks themselves."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..attacks.alone import by_parts
from ..attacks.multi_attack import first_fooled
from ..attacks.search.feasible import norms
from ..core import Batch, Result, seed_of, seeded
from ..data import datasets, resize, stack
from ..metrics.counts import ACTUAL, HITS, count
from ..metrics.objects import objects
from ..models import ready
from ..results.part_frames import example_number
from ..results.run import Run
from ..results.seal import content, read_seal
from ..runtime import Cell, RunOptions, other_rounding, start_executor
from ..runtime.elsewhere import named_files
from ..runtime.shard_files import read_manifest
from .recheck import faults
from .referee import Referee
from .repeating import Again, agree, differs
from .tabulating import disagreements, unlike_clean
from .worker import Worker

SHARE = 0.1  # of the images without kept pictures that are attacked again
LENGTHS = 1e-3  # relative error that a stored length of a delta may have

Tallies = Mapping[tuple[str, str], np.ndarray]  # (image, goal) -> (classes, 3), all valid pixels


@dataclass(frozen=True)
class Verdict:
    """What the re-check of one cell found."""

    cell: str
    checked: int  # results judged again from kept images
    repeated: int  # images attacked again from their seeds
    faults: tuple[str, ...]
    accuracy: float  # of the kept images, as stored
    accuracy_rounded: float  # of the same images after rounding to the depth of their source
    depth: str = ""  # of the source, such as 8-bit
    rounding: str = ""  # why counts may differ a little; nothing where they must be equal

    @property
    def accuracies(self) -> tuple[float, float]:
        """Of the kept images, as stored and rounded."""
        return self.accuracy, self.accuracy_rounded

    @property
    def sound(self) -> bool:
        """Whether all that was looked at agrees."""
        return not self.faults


def verify(
    folder: Path,
    share: float = SHARE,
    *,
    everything: bool = False,
    seed: int | None = None,
    run_options: RunOptions | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> list[Verdict]:
    """Check files and seal, then each cell: tables, kept images, and a share of its images attacked again.

    The share is drawn afresh each time unless a seed is given; `everything` attacks kept images again too."""
    run = Run(folder)
    draw = Draw(1.0 if everything else share, secrets.randbits(62) if seed is None else seed, everything)
    needed = named_files([run.plan.plugins, *([cell.model, cell.perturbation] for cell in run.cells)])
    threads = run.plan.numerics.threads
    executor = start_executor(run_options or RunOptions(workers=1), threads, warn, needed)
    verdicts = dict(executor.map(VerifyWork(folder, draw), [cell.key for cell in run.cells]))
    files = Verdict("files and seal", 0, 0, (*run.damage, *_broken_seal(run)), math.nan, math.nan)
    return [files, *(verdicts[cell.key] for cell in run.cells)]


@dataclass(frozen=True)
class VerifyWork:
    """The re-check of one cell; travels to a worker."""

    folder: Path
    draw: Draw

    def __call__(self, key: str) -> tuple[str, Verdict]:
        """Check a cell again; nothing is written."""
        run = Run(self.folder)
        cell = next(cell for cell in run.cells if cell.key == key)
        worker = Worker(self.folder, run.plan.numerics, frozenset(), tuple(run.plan.plugins))
        return key, _verify(run, cell, worker, self.draw, other_rounding(run.environment))

    def inputs(self, key: str) -> list[Path]:
        """Return the files of the run, for a worker that does not reach its folder."""
        plain = [path for path in self.folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        return [*plain, *filter(Path.is_file, (self.folder / "cells").rglob("*"))]


def _broken_seal(run: Run) -> Iterator[str]:
    """Say where the seal does not hold, all cells' contents hashed again."""
    _, reason = read_seal(run)
    yield from [reason] if reason else []
    for cell in run.cells:
        manifest = read_manifest(run.store.cell_folder(cell))
        if manifest is not None and manifest[0] != content(run, cell):
            yield f"cells/{cell.key} holds other results than those that were sealed"


@dataclass(frozen=True)
class Draw:
    """Which images are attacked again."""

    share: float
    seed: int
    kept_too: bool = False

    def ids(self, cell: Cell, ids: set[str], kept: set[str]) -> set[str]:
        """Draw that share of a cell's images, at least one where there is any."""
        others = ids if self.kept_too else ids - kept
        number = math.ceil(self.share * len(others) - 1e-9)
        return set(sorted(others, key=lambda id_: seed_of(self.seed, id_, f"verify {cell.identity}"))[:number])


def _verify(run: Run, cell: Cell, worker: Worker, draw: Draw, rounding: str) -> Verdict:
    referee = worker.referee(cell)
    if not rounding and run.store.schema(cell) == 1 and worker.numerics.batch_size > 1:
        rounding = "an earlier version did not note which images met the model together"
    again = Again(run, cell, worker, exact=not rounding)
    rejudged = _judge_parts(run, cell, referee) if by_parts(referee.perturbation) else _judge(again, referee)
    clean = next(one for one in run.cells if one.perturbation["kind"] == "clean" and _beside(one, cell))
    ids = {id_ for _, batch in again.batches for id_ in batch}
    kept = set() if by_parts(referee.perturbation) else {id_ for id_, _ in rejudged.seen}
    drawn = ids if cell is clean else draw.ids(cell, ids, kept)
    doubtful = {*unlike_clean(run, cell, clean, exact=not rounding), *(rejudged.doubtful if not rounding else ())}
    problems, repeated = again.differences(drawn | doubtful)
    problems = [*_foreign(run, cell, worker), *disagreements(run, cell), *rejudged.problems, *problems]
    right, still, total = np.sum(list(rejudged.seen.values()), axis=0) if rejudged.seen else (math.nan, math.nan, 1)
    faults, depth = tuple(dict.fromkeys(problems)), str(referee.data.depth)
    return Verdict(cell.label, len(rejudged.seen), repeated, faults, right / total, still / total, depth, rounding)


def _beside(one: Cell, other: Cell) -> bool:
    return (one.fingerprints, one.seed) == (other.fingerprints, other.seed)


def _foreign(run: Run, cell: Cell, worker: Worker) -> Iterator[str]:
    """Say whether model or images are others than those of the run."""
    _, weights = ready(cell.model, worker.numerics.device, worker.numerics.torch_dtype())
    if weights != cell.fingerprints["model"]:
        yield f"{cell.names['model']} has other weights than those of the run"
    if run.store.schema(cell) > 1 and datasets.build(cell.data).fingerprint() != cell.fingerprints["data"]:
        yield f"{cell.names['data']} holds other images or masks than those of the run"


@dataclass(frozen=True)
class Judged:
    """What kept images showed when they were judged again."""

    problems: tuple[str, ...]
    seen: Mapping[tuple[str, str], tuple[int, int, int]]  # (image, goal) -> pixels right, right once rounded, counted
    doubtful: frozenset[str] = frozenset()  # images whose counts differ by so little that rounding might do it


def _judge(again: Again, referee: Referee) -> Judged:
    """Judge every kept image again: ball, box, region, lengths of the delta, and counts."""
    run, cell = again.run, again.cell
    stored, positions = _stored(run, cell), _places(run, cell)
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
        if cell.perturbation["kind"] == "multi-attack":
            wrong, near = _together(referee, cell.perturbation, kept, stored)
            problems += wrong
            doubtful |= near
    return Judged(tuple(problems), seen, frozenset(doubtful))


def _draws(referee: Referee) -> bool:
    """Tell whether the model draws: then what it says of an image depends on those beside it, and is repeated whole."""
    images = _batch(referee, referee.data.ids()[0]).images.to(referee.numerics.torch_dtype())
    answers = []
    for seed in (1, 2):
        with seeded(seed, "", "verify"), torch.no_grad():
            answers.append(referee.model(images))
    return not torch.equal(*answers)


def _places(run: Run, cell: Cell) -> dict[str, tuple[int, int]]:
    """Return the place of every image among those of its size that met the model together, and how many they were.

    Rounding depends on both, hardly on what the others show: an image is judged again among copies of itself."""
    rows = {row["image"]: row for row in run.images(cell).to_pylist() if row["status"] == "ok"}
    positions = {}
    for _, batch in run.store.together(cell):
        groups: dict[tuple[int, int], list[str]] = {}
        for id_ in (id_ for id_ in batch if id_ in rows):
            groups.setdefault((rows[id_]["height"], rows[id_]["width"]), []).append(id_)
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


def _judge_parts(run: Run, cell: Cell, referee: Referee) -> Judged:
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
    return Judged(tuple(problems), seen)


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
    referee: Referee, spec: Mapping[str, Any], kept: Mapping[str, np.ndarray], stored: Tallies
) -> tuple[list[str], set[str]]:
    """Check what several attacks have fooled together, pixel by pixel from the image that each of them left.

    Return what is wrong, and the images whose counts differ by so little that rounding might do it."""
    problems, doubtful = [], set()
    for id_ in sorted({key.partition("|")[2] for key in kept}):
        batch = referee.towards_goal(_batch(referee, id_))
        together = _predict(referee, batch.images)
        again = {}
        for number in range(1, spec["number"] + 1):
            pixels = torch.from_numpy(kept[f"attack-{number}|{id_}"])[None].to(batch.images)
            together = first_fooled(batch, together, _predict(referee, pixels))
            again[id_, f"cumulative-{number}"] = _count(referee, batch, together)
        if spec["every_iterate"]:  # which also fools what only steps on the way did, and those are not kept
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
