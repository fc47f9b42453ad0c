"""A table as data: typed columns and plain cells; how it is written is the business of export and the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Literal, overload

from ...metrics.intervals import Interval

Cell = str | int | float | Interval
Row = tuple[Cell, ...]
Rows = tuple[Row, ...]
Kind = Literal["text", "count", "share", "number", "interval"]  # interval: a share with its bounds


class RowStream(Sequence[Row]):
    """Rows that are made anew whenever they are read, in their order: too many to be held together."""

    def __init__(self, length: int, make: Callable[[], Iterator[Row]]) -> None:
        self._length, self._make = length, make

    def __len__(self) -> int:
        """Count the rows without making them."""
        return self._length

    def __iter__(self) -> Iterator[Row]:
        """Make one row after the other."""
        return self._make()

    @overload
    def __getitem__(self, number: int) -> Row: ...

    @overload
    def __getitem__(self, number: slice) -> Rows: ...

    def __getitem__(self, number: int | slice) -> Row | Rows:
        """Return a row, or several; those before them are made too."""
        if isinstance(number, slice):
            return tuple(islice(self, *number.indices(len(self))))
        return self[number:][0]


@dataclass(frozen=True)
class Column:
    """A heading and the kind of the cells below it."""

    key: str  # heading in CSV
    title: str  # heading for people
    kind: Kind = "text"
    hidden: bool = False  # off in the page until a reader chooses it; the files have it
    best: Literal["", "highest", "lowest"] = ""  # which of its values is printed in bold
    top: int = 1  # how many values are, where there are more


@dataclass(frozen=True)
class Table:
    """Rows below columns, and what a reader must know to read them."""

    name: str  # of its files
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    note: str = ""  # below the rows, in the page
    lead: str = ""  # above the rows, in the page
    folded: bool = False  # closed in the page until someone opens it
    beside: int = 0  # rows at the end that are there for comparison only, and never printed in bold
    among: tuple[str, ...] = ()  # columns in which rows must agree to be compared for the best
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)  # (row, column) -> address in the page
    tints: Mapping[tuple[int, int], float] = field(default_factory=dict)  # -1 (harm) to 1 (calm): colour of a cell

    def __post_init__(self) -> None:
        """Refuse a row that does not fit below the columns."""
        for number, row in enumerate(self.rows[:1] if isinstance(self.rows, RowStream) else self.rows):
            if len(row) != len(self.columns):
                raise ValueError(f"row {number} has {len(row)} cells below {len(self.columns)} columns")

    def without(self, keys: Collection[str]) -> Table:
        """Leave out some columns."""
        kept = [number for number, column in enumerate(self.columns) if column.key not in keys]
        rows = tuple(tuple(row[number] for number in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[number] for number in kept), rows=rows)

    def hiding(self, keys: Collection[str]) -> Table:
        """Keep some columns to the files."""
        columns = (replace(column, hidden=column.hidden or column.key in keys) for column in self.columns)
        return replace(self, columns=tuple(columns))

    @cached_property
    def bold(self) -> frozenset[tuple[int, int]]:
        """Row and column of every best value, where a column has one that is better than another."""
        ranked = [(number, column) for number, column in enumerate(self.columns) if column.best]
        return frozenset(
            (line, number)
            for rows in self._compared()
            for number, column in ranked
            for line in _best(rows, number, column)
        )

    def _compared(self) -> Iterable[Mapping[int, Row]]:
        """Return the rows by their numbers, in groups within which they are compared."""
        shared = [number for number, column in enumerate(self.columns) if column.key in self.among]
        groups: dict[Row, dict[int, Row]] = {}
        for line, row in enumerate(self.rows[: len(self.rows) - self.beside]):
            groups.setdefault(tuple(row[number] for number in shared), {})[line] = row
        return groups.values()


def _best(rows: Mapping[int, Row], number: int, column: Column) -> Iterator[int]:
    """Yield the rows with the best values of a column, where one is better than another."""
    values = {line: float(plain) for line, row in rows.items() if _known(plain := value_of(row[number]))}
    distinct = sorted(set(values.values()), reverse=column.best == "highest")
    best = distinct[: min(column.top, len(distinct) - 1)]
    yield from (line for line, plain in values.items() if plain in best)


def value_of(cell: Cell) -> str | int | float:
    """Return what a cell is sorted by: the middle of an interval, anything else itself."""
    return cell.value if isinstance(cell, Interval) else cell


def _known(plain: str | int | float) -> bool:
    return not isinstance(plain, str) and math.isfinite(plain)
