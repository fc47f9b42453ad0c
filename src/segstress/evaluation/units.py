"""The units of a phase: ids are kept once, and a unit is made when it is asked for, however many there are."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, compress
from typing import overload

import numpy as np

from ..core import digest
from ..planning.cost import cell_passes
from ..runtime import Cell, Unit


@dataclass(frozen=True)
class ChainUnits:
    """The units of one chain of cells: whole batches that have an image without an answer."""

    cells: Sequence[Cell]
    ids: Sequence[str]
    missing: np.ndarray  # (cells, images): which answers are not there yet
    batch: int  # images that meet the model together
    together: int  # batches of a unit
    first: int = 0  # number of its first unit
    finished: Mapping[str, str] = field(default_factory=dict)  # image -> key of the cell after which nothing was left

    @cached_property
    def wanted(self) -> np.ndarray:
        """Which images are missing an answer."""
        return np.asarray(self.missing.any(0))

    @property
    def size(self) -> int:
        """Images of a unit."""
        return self.batch * self.together

    @property
    def end(self) -> int:
        """Number of the first unit after them, counting finished ones too."""
        return self.first - (-len(self.ids) // self.size)

    @cached_property
    def places(self) -> np.ndarray:
        """Which of its units are not done, by their places."""
        return np.unique(np.flatnonzero(self.wanted) // self.size)

    def unit(self, index: int) -> Unit:
        """Return one of those that are not done."""
        start = self.size * index
        stop = min(start + self.size, len(self.ids))
        batches = (self._some(self.wanted, low, min(low + self.batch, stop)) for low in range(start, stop, self.batch))
        steps = tuple(
            (cell, self._some(lacking, start, stop)) for cell, lacking in zip(self.cells, self.missing, strict=True)
        )
        images = self._some(self.wanted, start, stop)
        finished = {id_: self.finished[id_] for id_ in images if id_ in self.finished}
        return Unit(steps, tuple(filter(None, batches)), finished, self.first + index)

    def _some(self, which: np.ndarray, start: int, stop: int) -> tuple[str, ...]:
        return tuple(compress(self.ids[start:stop], which[start:stop]))


class Units(Sequence[Unit]):
    """The units of all chains, one after the other."""

    def __init__(self, chains: Sequence[ChainUnits]) -> None:
        self.chains = chains
        self._starts = [0, *accumulate(len(chain.places) for chain in chains)]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Unit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Unit]: ...
    def __getitem__(self, index: int | slice) -> Unit | list[Unit]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"expected one of {len(self)} units, found {index}")
        index %= len(self)
        chain = bisect_right(self._starts, index) - 1
        return self.chains[chain].unit(int(self.chains[chain].places[index - self._starts[chain]]))

    def passes(self) -> int:
        """Count the most passes that all take."""
        return sum(cell_passes(cell, list(compress(chain.ids, lacking))) for chain, cell, lacking in self._steps())

    def describe(self) -> str:
        """Return what is asked for in a line, such as "96 answers (8 images x 12 perturbations)"."""
        steps = list(self._steps())
        answers = sum(int(lacking.sum()) for _, _, lacking in steps)
        models = len({cell.fingerprints["model"] for _, cell, _ in steps})
        wanted: dict[str, np.ndarray] = {}  # by data, of which all chains look at the same images
        for chain in self.chains:
            data = chain.cells[0].fingerprints["data"]
            wanted[data] = wanted.get(data, False) | chain.wanted
        sizes = {
            "images": sum(int(images.sum()) for images in wanted.values()),
            "perturbations": len({digest(dict(cell.perturbation)) for _, cell, _ in steps}),
        } | ({"models": models} if models > 1 else {})
        whole = f" ({' x '.join(f'{size} {name}' for name, size in sizes.items())})"
        return f"{answers} answers{whole if math.prod(sizes.values()) == answers else ''}"

    def _steps(self) -> Iterator[tuple[ChainUnits, Cell, np.ndarray]]:
        """Yield each cell that has no answer of some images."""
        for chain in self.chains:
            for cell, lacking in zip(chain.cells, chain.missing, strict=True):
                if lacking.any():
                    yield chain, cell, lacking
