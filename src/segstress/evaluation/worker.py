"""One unit of work, as a worker does it: read, evaluate, write the shard; a fault is its own image's alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import nn

from ..core import BadImage, BadInput, import_source, perturbations
from ..data import Sample, datasets, readable
from ..data.ahead import read_ahead
from ..data.sample import by_size
from ..metrics.counts import few
from ..models import ready
from ..models.folding import fold
from ..models.mixed import Mixed
from ..results.timings import Timing
from ..runtime import SCHEMAS, Cell, Numerics, Shard, Store, Unit
from .referee import Referee
from .rows import row_of
from .worst_so_far import Left, left_by


@dataclass(frozen=True)
class Worker:
    """What a worker does with a unit; travels to it as plain data."""

    folder: Path
    numerics: Numerics
    keep: frozenset[str]  # ids whose images and label maps are stored
    plugins: tuple[str, ...] = ()
    done_at: float = 0.0  # share of correct pixels at which an image is finished

    @property
    def device(self) -> str:
        """On what it computes."""
        return self.numerics.device

    def __call__(self, unit: Unit) -> tuple[Unit, list[Timing], list[Left]]:
        """Evaluate a unit, cell after cell, and write a shard for each; the unit, its times, and what it left."""
        read = datasets.build(unit.steps[0][0].data).read  # all its cells look at the same images
        if self.numerics.device == "cpu":
            return self._answer(unit, cache(read))
        with read_ahead(read, [id_ for batch in unit.batches for id_ in batch]) as decode:
            return self._answer(unit, decode)

    def give_up(self, unit: Unit, reason: str) -> tuple[Unit, list[Timing], list[Left]]:
        """Write an error row for every image of a unit that workers die of, as far as it has no answer."""
        store = Store(self.folder)
        for cell, ids in unit.steps:
            rows = [row_of(id_, cell.seed) | {"status": "error", "message": reason} for id_ in store.missing(cell, ids)]
            if rows:
                store.add(cell, Shard(images=rows))
        return unit, [], []

    def _answer(self, unit: Unit, decode: Callable[[str], Sample]) -> tuple[Unit, list[Timing], list[Left]]:
        finished, timings, left_over = dict(unit.finished), [], []
        for cell, ids in unit.steps:
            left = [id_ for id_ in ids if id_ not in finished]
            started = time.perf_counter()
            shard = Shard()
            for batch in unit.batches:
                shard.extend(self.evaluate(cell, [id_ for id_ in batch if id_ in left], decode))
            elapsed = time.perf_counter() - started
            timings += [Timing(cell.key, id_, elapsed / len(left)) for id_ in left]
            shard.images += [_spared(id_, cell.seed, finished[id_]) for id_ in ids if id_ in finished]
            Store(self.folder).add(cell, shard)
            left_over += left_by(cell, shard.images)
            if len(unit.steps) > 1:
                finished |= finishers(cell.key, pa.Table.from_pylist(shard.images, SCHEMAS["images"]), self.done_at)
        return unit, timings, left_over

    def evaluate(self, cell: Cell, ids: Sequence[str], decode: Callable[[str], Sample] | None = None) -> Shard:
        """Return the answers of one cell to some images."""
        if not ids:
            return Shard()
        referee = self.referee(cell, decode)
        shard, samples = Shard(), []
        for id_ in ids:
            try:
                samples.append(referee.read(id_))
            except BadImage as error:
                shard.images.append(row_of(id_, referee.seed) | {"status": "error", "message": str(error)})
        for group in by_size(samples, self.numerics.batch_size):
            shard.extend(_evaluate(referee, group))
        for row in shard.images:
            row["batch"] = ids[0]  # by which `verify` knows who met the model together
        return shard

    def referee(self, cell: Cell, decode: Callable[[str], Sample] | None = None) -> Referee:
        """Return the referee of a cell; the model is loaded once a process."""
        for plugin in self.plugins:
            import_source(plugin)
        dataset, numerics = datasets.build(cell.data), self.numerics
        network, _ = ready(cell.model, numerics.device, numerics.torch_dtype())
        if numerics.channels_last:
            network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        data = json.dumps(dict(cell.data), sort_keys=True)
        return Referee(
            model=network,
            searched=_searched(network, data, numerics),
            data=dataset,
            decode=decode or dataset.read,
            perturbation=perturbations.build(cell.perturbation),
            seed=cell.seed,
            numerics=numerics,
            keep=self.keep,
        )


@lru_cache(maxsize=2)
def _searched(network: nn.Module, data: str, numerics: Numerics) -> nn.Module | None:
    """Return the model as attacks see it, where that is another than the one that judges."""
    searched = _folded(network, data, numerics) if numerics.fold else network
    if numerics.dtype == "bfloat16":
        searched = Mixed(searched).eval()
    return None if searched is network else searched


def _folded(network: nn.Module, data: str, numerics: Numerics) -> nn.Module:
    """Return the model for searching, tried out on the first image it answers, so that every worker decides alike."""
    dataset = datasets.build(json.loads(data))
    for sample in readable(dataset, dataset.ids()):
        with suppress(Exception):  # what the model raises on one image is told in that image's row
            return fold(network, sample.image[None].to(numerics.device, numerics.torch_dtype())).model
    return network


def _evaluate(referee: Referee, samples: Sequence[Sample]) -> Shard:
    """Answer for a group; if it fails as a whole, for each of its images alone."""
    void = [sample for sample in samples if not sample.valid.any()]
    if void:
        shard = Shard(images=[_failed(referee, sample, "skipped", "no valid pixel") for sample in void])
        seen = [sample for sample in samples if sample.valid.any()]
        if seen:
            shard.extend(_evaluate(referee, seen))
        return shard
    try:
        return referee(samples)
    except Exception as error:
        if isinstance(error, BadInput) and not isinstance(error, BadImage):
            raise
        if len(samples) == 1:
            message = str(error) if isinstance(error, BadImage) else f"{type(error).__name__}: {error}"
            return Shard(images=[_failed(referee, samples[0], "error", message.splitlines()[0])])
    shard = Shard()
    for sample in samples:
        shard.extend(_evaluate(referee, [sample]))
    return shard


def finishers(key: str, images: pa.Table, done_at: float) -> dict[str, str]:
    """Return the images that a cell left without correct pixels, or with as few as count as none."""
    counted = pc.greater(images["valid"], 0)  # null in what earlier versions wrote
    known = images.filter(pc.and_(pc.equal(images["status"], "ok"), counted))
    finished = few(known["correct"].to_numpy(), known["valid"].to_numpy(), done_at)
    return dict.fromkeys(known["image"].filter(pa.array(finished)).to_pylist(), key)


def _spared(id_: str, seed: int, finisher: str) -> dict[str, object]:
    return row_of(id_, seed) | {"status": "skipped", "message": f"finished by {finisher}", "finisher": finisher}


def _failed(referee: Referee, sample: Sample, status: str, message: str) -> dict[str, object]:
    return row_of(sample.id, referee.seed, sample) | {"status": status, "message": message}
