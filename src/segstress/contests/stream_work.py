"""What a worker does with some shards of a streamed pool: all models look, pairs are compared, the best are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from torch import nn

from ..competition.discrepancy import BY_CLASS, concordances, pair_counts
from ..competition.select import ID_TYPE, Candidates, Rule
from ..competition.thresholds import Bounds, PoolShares
from ..competition.vocabulary import Vocabulary
from ..core import BadImage, BadInput, digest, import_source
from ..core.files import write
from ..data import Dataset, Sample, resize
from ..data.pipeline import put_behind, read_blocks
from .index import index_row
from .plan import Entrant
from .predict import open_pool
from .predictor import Labels, Predictor
from .stream_total import Row, StreamTotal

STREAM = "stream"  # folder of the totals
WHOLE = "whole"  # in the place of a unit: what is joined so far
LOST = "unreadable shards"
UNIT = 1024  # images of a unit at least; a shard is never cut
BYTES = 2**25  # of a unit at least, where the images of its shards are not known before they are opened
BLOCK = 32  # images whose agreements are held at a time


class Looked(NamedTuple):
    """An image of the pool as all models see it."""

    name: str
    row: Row | str  # what the index says of it, or why it cannot be read
    maps: list[Labels]


@dataclass(frozen=True)
class StreamUnit:
    """Some shards of the pool, by their names."""

    stretches: tuple[str, ...]
    number: int  # its place among all units

    @property
    def stem(self) -> str:
        """By what its total is known."""
        return digest(list(self.stretches))


@dataclass(frozen=True)
class StreamWork:
    """All models on some shards of the pool; travels to a worker."""

    folder: Path
    pool: str
    entrants: tuple[Entrant, ...]
    predictor: Predictor
    metric: str
    rule: Rule
    bounds: Bounds | None  # none in a first pass, which only counts shares
    plugins: tuple[str, ...] = ()

    def __call__(self, unit: StreamUnit) -> tuple[StreamUnit, list[str]]:
        """Write what the images come to; also return what went wrong."""
        for plugin in self.plugins:
            import_source(plugin)
        data, total = open_pool(self.pool), self.empty()
        faults, block = list[str](), list[Looked]()
        names = self._names(data, unit, total, faults)

        def read(name: str) -> tuple[Row, Sample]:
            sample = data.read(name)
            return index_row(name, sample), resize(sample, data.resize)

        def add(looked: Sequence[Looked]) -> None:
            block.extend(looked)
            if len(block) >= BLOCK or not looked:
                total.join(self._total(block, faults))
                block.clear()

        models = [self.predictor.model(entrant) for entrant in self.entrants]
        with put_behind(add) as put:
            for images in read_blocks(read, self.predictor.blocks(names), data.readers):
                put(self._predict(models, images))
            put([])
        return self._write(unit, total, faults)

    def give_up(self, unit: StreamUnit, reason: str) -> tuple[StreamUnit, list[str]]:
        """Count the shards that workers die of, and none of their images."""
        total = self.empty()
        total.count(LOST, len(unit.stretches))
        return self._write(unit, total, [f"{', '.join(unit.stretches)}: {reason}"])

    def _names(self, data: Dataset, unit: StreamUnit, total: StreamTotal, faults: list[str]) -> list[str]:
        """Return the images of some shards; one that cannot be listed is counted, and the others go on."""
        names: list[str] = []
        for stretch in unit.stretches:
            try:
                names += data.stretch(stretch)
            except (BadInput, BadImage) as error:
                total.count(LOST)
                faults.append(str(error))
        return names

    def _write(self, unit: StreamUnit, total: StreamTotal, faults: list[str]) -> tuple[StreamUnit, list[str]]:
        total.done = {unit.stem}
        write(self.path(unit.stem), total.to_bytes())
        return unit, faults

    def empty(self) -> StreamTotal:
        """Return the total of no images."""
        sizes, background = (len(self.entrants), len(self.vocabulary.classes)), self.vocabulary.background
        return StreamTotal(Candidates(*sizes, self.rule, background), PoolShares(*sizes))

    def path(self, stem: str) -> Path:
        """Tell where the total of some shards is written."""
        return self.folder / STREAM / f"{self.question}-{stem}.zst"

    def beside(self) -> list[Path]:
        """Return the totals of some shards that are there."""
        return [path for path in (self.folder / STREAM).glob(f"{self.question}-*.zst") if path != self.path(WHOLE)]

    @cached_property
    def question(self) -> str:
        """What totals are of: no others fit."""
        bounds = [] if self.bounds is None else [self.bounds.low.tolist(), self.bounds.high.tolist()]
        known = [[entrant.key for entrant in self.entrants], bounds, ID_TYPE, UNIT, BYTES]
        return f"{'candidates' if bounds else 'shares'}-{digest(known)}"

    @property
    def device(self) -> str:
        """On what it computes."""
        return self.predictor.numerics.device

    @property
    def vocabulary(self) -> Vocabulary:
        """The common classes."""
        return self.predictor.vocabulary

    def _predict(self, models: list[nn.Module], images: Mapping[str, tuple[Row, Sample] | str]) -> list[Looked]:
        """Return each image as all models see it."""
        samples = [image[1] for image in images.values() if not isinstance(image, str)]
        maps: dict[str, list[Labels]] = {sample.id: [] for sample in samples}
        for group in self.predictor.passes(samples):
            for entrant, model in zip(self.entrants, models, strict=True):
                for sample, labels in zip(group, self.predictor.maps(model, group, entrant.name), strict=True):
                    maps[sample.id].append(labels)
        return [
            Looked(name, image, []) if isinstance(image, str) else Looked(name, image[0], maps[image[1].id])
            for name, image in images.items()
        ]

    def _total(self, block: Sequence[Looked], faults: list[str]) -> StreamTotal:
        """Return what some images come to."""
        total, seen = self.empty(), dict[str, tuple[np.ndarray, np.ndarray]]()
        for name, row, maps in block:
            total.count("images")
            if isinstance(row, str):
                total.count("unreadable")
                faults.append(f"{name}: {row}")
                continue
            for entrant, fault in zip(self.entrants, maps, strict=True):
                if isinstance(fault, str):
                    total.count(f"failed by {entrant.name}")
                    faults.append(f"{entrant.name} on {row['image']}: {fault}")
            seen.setdefault(row["image"], self._compare([None if isinstance(one, str) else one for one in maps]))
            total.rows.setdefault(row["image"], row)
        if seen:
            shares, scores = (np.stack(column) for column in zip(*seen.values(), strict=True))
            total.shares.add(shares)
            if self.bounds is not None:
                total.candidates.add(np.array(list(seen), dtype=ID_TYPE), shares, scores, self.bounds)
        return total

    def _compare(self, maps: list[np.ndarray | None]) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of each class in each map, and the agreement of every pair; NaN where there is no map."""
        classes, present = len(self.vocabulary.classes), [number for number, one in enumerate(maps) if one is not None]
        shares = np.full((len(maps), classes), np.nan, dtype=np.float32)
        by_class = (classes,) if self.metric in BY_CLASS else ()
        scores = np.full((len(maps), len(maps), *by_class), np.nan, dtype=np.float32)
        there = [one for one in maps if one is not None]
        for number, labels in zip(present, there, strict=True):
            pixels = np.bincount(labels[labels != self.vocabulary.scheme.void], minlength=classes)
            shares[number] = pixels / labels.size
        if len(there) > 1:
            agreed = concordances.get(self.metric)(pair_counts(np.stack(there), classes))
            scores[np.ix_(present, present)] = agreed
        return shares, scores


def units_of(data: Dataset) -> Iterator[StreamUnit]:
    """Yield shards in their order, small ones together; none is opened."""
    names, images, size, number = list[str](), 0, 0, 0
    for stretch in data.outline():
        names.append(stretch.name)
        images, size = images + stretch.images, size + stretch.size
        if images >= UNIT or size >= BYTES:
            yield StreamUnit(tuple(names), number)
            names, images, size, number = [], 0, 0, number + 1
    if names:
        yield StreamUnit(tuple(names), number)
