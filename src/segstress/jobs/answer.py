"""One unit of work, as a worker does it: read, judge, write the shard; a fault is its own image's and no other's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from torch import nn

from ..core import BadImage, BadInput, import_source, perturbations
from ..data import Sample, datasets, resize
from ..models import load as load_model
from ..runtime import Cell, Numerics, Shard, Store, Unit
from .judge import Judge, row_of


@dataclass(frozen=True)
class Work:
    """What a worker does with a unit; travels to it as plain data."""

    folder: Path
    numerics: Numerics
    keep: frozenset[str]  # ids whose images and label maps are stored
    plugins: tuple[str, ...] = ()

    def __call__(self, unit: Unit) -> Shard:
        """Answer the unit and write its shard; what comes back carries rows only."""
        shard = self.answer(unit)
        Store(self.folder).add(unit.cell, shard)
        return Shard(images=shard.images)

    def answer(self, unit: Unit) -> Shard:
        """The answers to a unit."""
        judge = self.judge(unit.cell)
        shard, samples = Shard(), []
        for id_ in unit.ids:
            try:
                samples.append(resize(judge.data.read(id_), judge.data.resize))
            except BadImage as error:
                shard.images.append(row_of(id_, judge.seed) | {"status": "error", "message": str(error)})
        for group in _by_size(samples, self.numerics.batch_size):
            shard.extend(_answer(judge, group))
        return shard

    def judge(self, cell: Cell) -> Judge:
        """The judge of a cell; the model is loaded once a process."""
        for plugin in self.plugins:
            import_source(plugin)
        return Judge(
            model=_model(json.dumps(dict(cell.model), sort_keys=True), self.numerics),
            data=datasets.build(cell.data),
            perturbation=perturbations.build(cell.perturbation),
            seed=cell.seed,
            numerics=self.numerics,
            keep=self.keep,
        )


@lru_cache(maxsize=2)
def _model(spec: str, numerics: Numerics) -> nn.Module:
    return load_model(json.loads(spec)).to(numerics.device, numerics.torch_dtype())


def _by_size(samples: Sequence[Sample], most: int) -> Iterator[list[Sample]]:
    """Groups of one size, in the order of their first image."""
    groups: dict[tuple[int, ...], list[Sample]] = {}
    for sample in samples:
        groups.setdefault(tuple(sample.image.shape), []).append(sample)
    for group in groups.values():
        yield from (group[first : first + most] for first in range(0, len(group), most))


def _answer(judge: Judge, samples: Sequence[Sample]) -> Shard:
    """Answers to a group; if it fails as a whole, to each of its images alone."""
    void = [sample for sample in samples if not sample.valid.any()]
    if void:
        shard = Shard(images=[_failed(judge, sample, "skipped", "no valid pixel") for sample in void])
        seen = [sample for sample in samples if sample.valid.any()]
        if seen:
            shard.extend(_answer(judge, seen))
        return shard
    try:
        return judge(samples)
    except Exception as error:
        if isinstance(error, BadInput) and not isinstance(error, BadImage):
            raise
        if len(samples) == 1:
            message = str(error) if isinstance(error, BadImage) else f"{type(error).__name__}: {error}"
            return Shard(images=[_failed(judge, samples[0], "error", message.splitlines()[0])])
    shard = Shard()
    for sample in samples:
        shard.extend(_answer(judge, [sample]))
    return shard


def _failed(judge: Judge, sample: Sample, status: str, message: str) -> dict[str, object]:
    return row_of(sample.id, judge.seed, sample) | {"status": status, "message": message}
