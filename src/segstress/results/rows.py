"""What happened to every image under one perturbation: columns, from which a row is made when it is asked for."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CHUNK = 4096  # rows that are made at a time
WORDS = ("image", "goal", "status", "message")  # columns in which few words come again and again


@dataclass(frozen=True)
class ImageRow:
    """What happened to one image under one perturbation and goal."""

    image: str
    goal: str
    status: str  # ok, error or skipped
    message: str  # why, when it is not ok
    size: float  # of the delta, in the perturbation's own norm
    linf: float
    l2: float
    l1: float
    damage: float  # share of valid pixels that are wrong
    forwards: int
    backwards: int
    margin_10: float = nan  # quantiles of the leads of pixels still right, in units of the clean image's mean margin
    margin_50: float = nan
    margin_90: float = nan


class ImageRows(Sequence[ImageRow]):
    """ImageRows in the order of images and goals."""

    def __init__(self, table: pa.Table) -> None:
        columns = {name: table[name].combine_chunks() for name in ImageRow.__annotations__}
        self._columns = {
            name: column.dictionary_encode() if name in WORDS else _full(column) for name, column in columns.items()
        }

    @classmethod
    def of(cls, rows: Iterable[ImageRow]) -> ImageRows:
        """Return rows that are there already, in order."""
        kinds = {"str": pa.string(), "float": pa.float64(), "int": pa.int64()}
        schema = pa.schema([(name, kinds[kind]) for name, kind in ImageRow.__annotations__.items()])
        return cls(pa.Table.from_pylist(sorted(map(asdict, rows), key=lambda row: (row["image"], row["goal"])), schema))

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._columns["image"])

    @overload
    def __getitem__(self, index: int) -> ImageRow: ...

    @overload
    def __getitem__(self, index: slice) -> list[ImageRow]: ...

    def __getitem__(self, index: int | slice) -> ImageRow | list[ImageRow]:
        """Return a row, or several."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return ImageRow(*(column[index].as_py() for column in self._columns.values()))

    def __iter__(self) -> Iterator[ImageRow]:
        """Make one row after the other."""
        for first in range(0, len(self), CHUNK):
            yield from map(ImageRow, *(column[first : first + CHUNK].to_pylist() for column in self._columns.values()))

    def find(self, image: str, goal: str) -> ImageRow | None:
        """Return the row of an image and goal."""
        images, goals = self._columns["image"], self._columns["goal"]
        wanted = (image, goal)
        index = bisect_left(range(len(self)), wanted, key=lambda row: (images[row].as_py(), goals[row].as_py()))
        row = self[index] if index < len(self) else None
        return row if row and (row.image, row.goal) == wanted else None

    def images(self, status: str) -> tuple[str, ...]:
        """Return the images that have a row of that status, each once."""
        known = self._columns["status"]
        code = known.dictionary.to_pylist().index(status) if status in known.dictionary.to_pylist() else -1
        there = self._columns["image"].filter(pc.equal(known.indices, code))
        return tuple(pc.unique(there).dictionary_decode().to_pylist())

    def passes(self) -> tuple[int, int]:
        """Sum forwards and backwards; the goals of one image come from the same passes."""
        images = self._columns["image"].indices.to_numpy()
        last = np.flatnonzero(np.append(images[1:] != images[:-1], True)[: len(images)])
        forwards, backwards = (self._columns[name].to_numpy()[last].sum() for name in ("forwards", "backwards"))
        return int(forwards), int(backwards)


def _full(column: pa.Array) -> pa.Array:
    return pc.fill_null(column, math.nan) if pa.types.is_floating(column.type) else column
