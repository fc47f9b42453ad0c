"""Evidence that anyone can re-check: files, seal, tables, stored images and a fresh share of the attacks themselves."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..attacks.alone import by_parts
from ..core import seed_of
from ..data import datasets
from ..models import ready
from ..results.run import Run
from ..results.seal import content, read_seal
from ..runtime import Cell, RunOptions, other_rounding, start_executor
from ..runtime.elsewhere import named_files
from ..runtime.shard_files import read_manifest
from .kept_images import recheck, recheck_parts
from .repeating import Again
from .tabulating import disagreements, unlike_clean
from .worker import Worker

SHARE = 0.1  # of the images without kept pictures that are attacked again


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
    verdicts = dict(executor.map(VerifyWork(folder, draw, run.plan.numerics.device), [cell.key for cell in run.cells]))
    files = Verdict("files and seal", 0, 0, (*run.damage, *_broken_seal(run)), math.nan, math.nan)
    return [files, *(verdicts[cell.key] for cell in run.cells)]


@dataclass(frozen=True)
class VerifyWork:
    """The re-check of one cell; travels to a worker."""

    folder: Path
    draw: Draw
    device: str = "cpu"  # on which it computes

    def __call__(self, key: str) -> tuple[str, Verdict]:
        """Check a cell again; nothing is written."""
        run = Run(self.folder)
        cell = next(cell for cell in run.cells if cell.key == key)
        worker = Worker(self.folder, run.plan.numerics, frozenset(), tuple(run.plan.plugins))
        return key, _verify(run, cell, worker, self.draw, other_rounding(run.environment))

    def give_up(self, key: str, reason: str) -> tuple[str, Verdict]:
        """Doubt a cell that workers die of."""
        return key, Verdict(key, 0, 0, (f"could not be checked: {reason}",), math.nan, math.nan)

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
    kept_images = recheck_parts(run, cell, referee) if by_parts(referee.perturbation) else recheck(again, referee)
    clean = next(one for one in run.cells if one.is_clean and _beside(one, cell))
    ids = {id_ for _, batch in again.batches for id_ in batch}
    kept = set() if by_parts(referee.perturbation) else {id_ for id_, _ in kept_images.seen}
    drawn = ids if cell is clean else draw.ids(cell, ids, kept)
    doubtful = {*unlike_clean(run, cell, clean, exact=not rounding), *(kept_images.doubtful if not rounding else ())}
    problems, repeated = again.differences(drawn | doubtful)
    problems = [*_foreign(run, cell, worker), *disagreements(run, cell), *kept_images.problems, *problems]
    right, still, total = (
        np.sum(list(kept_images.seen.values()), axis=0) if kept_images.seen else (math.nan, math.nan, 1)
    )
    faults, depth = tuple(dict.fromkeys(problems)), str(referee.data.depth)
    return Verdict(cell.label, len(kept_images.seen), repeated, faults, right / total, still / total, depth, rounding)


def _beside(one: Cell, other: Cell) -> bool:
    return (one.fingerprints, one.seed) == (other.fingerprints, other.seed)


def _foreign(run: Run, cell: Cell, worker: Worker) -> Iterator[str]:
    """Say whether model or images are others than those of the run."""
    _, weights = ready(cell.model, worker.numerics.device, worker.numerics.torch_dtype())
    if weights != cell.fingerprints["model"]:
        yield f"{cell.names['model']} has other weights than those of the run"
    if run.store.schema(cell) > 1 and datasets.build(cell.data).fingerprint() != cell.fingerprints["data"]:
        yield f"{cell.names['data']} holds other images or masks than those of the run"
