"""A table as data: typed columns and plain cells; how it is written is the business of export and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...metrics.intervals import Interval

Cell = str | int | float | Interval
Rows = tuple[tuple[Cell, ...], ...]
Kind = Literal["text", "count", "share", "number", "interval"]  # interval: a share with its bounds


@dataclass(frozen=True)
class Column:
    """What stands below one heading."""

    key: str  # heading in CSV
    title: str  # heading for people
    kind: Kind = "text"


@dataclass(frozen=True)
class Table:
    """Rows below columns, and what a reader must know to read them."""

    name: str  # of its files
    title: str
    columns: tuple[Column, ...]
    rows: Rows
    note: str = ""

    def without(self, keys: Sequence[str]) -> Table:
        """The same table with some columns left out."""
        kept = [place for place, column in enumerate(self.columns) if column.key not in keys]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)
