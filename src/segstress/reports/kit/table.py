"""A table as data: typed columns and plain cells; how it is written is the business of export and the page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from ...metrics.intervals import Interval

Cell = str | int | float | Interval
Rows = tuple[tuple[Cell, ...], ...]
Kind = Literal["text", "count", "share", "number", "interval"]  # interval: a share with its bounds


@dataclass(frozen=True)
class Column:
    """A heading and the kind of the cells below it."""

    key: str  # heading in CSV
    title: str  # heading for people
    kind: Kind = "text"
    hidden: bool = False  # only the files have it, not the page


@dataclass(frozen=True)
class Table:
    """Rows below columns, and what a reader must know to read them."""

    name: str  # of its files
    title: str
    columns: tuple[Column, ...]
    rows: Rows
    note: str = ""  # below the rows, in the page
    lead: str = ""  # above the rows, in the page
    folded: bool = False  # closed in the page until someone opens it

    def __post_init__(self) -> None:
        """Refuse a row that does not fit below the columns."""
        for number, row in enumerate(self.rows):
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

    @property
    def shown(self) -> Table:
        """The table as the page shows it."""
        return self.without([column.key for column in self.columns if column.hidden])
