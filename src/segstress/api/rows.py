"""Tables for Python users: a list of mappings that prints as text and shows itself in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from ..core import BadInput
from ..metrics.intervals import Interval
from ..reports.kit.table import Table


class Rows(list[dict[str, Any]]):
    """Rows by the names of their columns."""

    @property
    def columns(self) -> list[str]:
        """Every name that a row has, in the order in which they appear."""
        return list(dict.fromkeys(key for row in self for key in row))

    def __repr__(self) -> str:
        lines = [self.columns, *(self._texts(row) for row in self)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in self._texts(row))}</tr>" for row in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _texts(self, row: Mapping[str, Any]) -> list[str]:
        return [_text(row.get(name)) for name in self.columns]

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame, where pandas is installed."""
        try:
            import pandas
        except ImportError as error:
            raise BadInput("pandas is not installed: pip install pandas, or use table(), a list of mappings") from error
        return pandas.DataFrame(list(self), columns=self.columns)


def rows_of(table: Table) -> Rows:
    """Return the rows of a report's table; an interval as three columns."""
    keys = [column.key for column in table.columns]
    return Rows(
        dict(pair for key, cell in zip(keys, row, strict=True) for pair in _pairs(key, cell)) for row in table.rows
    )


def _pairs(key: str, cell: Any) -> list[tuple[str, Any]]:
    if isinstance(cell, Interval):
        return [(key, cell.value), (f"{key}_low", cell.low), (f"{key}_high", cell.high)]
    return [(key, cell)]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
