"""Tables in files: CSV, JSON and Parquet for programs, LaTeX for papers, Markdown for pages, short cells for people."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from ...metrics.intervals import Interval
from .naming import percent
from .table import Cell, Kind, Table

ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)

HELD = 2**14  # rows that are written at a time
# What a spreadsheet would run: a sign or @ before anything that is no number.
FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d+(e[+-]?\d+)?$).", re.IGNORECASE)


def to_csv(table: Table) -> str:
    """Write shares in [0, 1] to six digits, an interval as three columns, nothing where there is no value."""
    return "".join(csv_pieces(table))


def csv_pieces(table: Table) -> Iterator[str]:
    """Yield the same, some rows at a time."""
    kinds = [column.kind for column in table.columns]
    lines = (
        [plain for cell, kind in zip(row, kinds, strict=True) for plain in _plain(cell, kind)] for row in table.rows
    )
    heading: list[list[str]] = [_keys(table)]
    while some := heading or list(islice(lines, HELD)):
        text, heading = io.StringIO(), []
        csv.writer(text, lineterminator="\n").writerows(some)
        yield text.getvalue()


def to_json(table: Table) -> str:
    """Write one object a row by the keys of CSV, in full precision; null where there is no value."""
    keys = _keys(table)
    rows = [dict(zip(keys, values, strict=True)) for values in _values(table)]
    about = {"name": table.name, "title": table.title, "note": table.note}
    return json.dumps({**about, "columns": keys, "rows": rows}, indent=1, allow_nan=False) + "\n"


def to_parquet(table: Table) -> bytes:
    """Write the columns of CSV, typed, in full precision; null where there is no value."""
    kinds = [kind for column in table.columns for kind in [column.kind] * len(_headings(column.key, column.kind))]
    schema = pa.schema([(key, _TYPES.get(kind, pa.float64())) for key, kind in zip(_keys(table), kinds, strict=True)])
    file, values = io.BytesIO(), _values(table)
    with parquet.ParquetWriter(file, schema) as writer:
        some = list(islice(values, HELD))
        while True:
            columns = zip(*some, strict=True) if some else [[] for _ in schema]
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
            some = list(islice(values, HELD))
            if not some:
                break
    return file.getvalue()


_TYPES = {"text": pa.string(), "count": pa.int64()}


def _keys(table: Table) -> list[str]:
    return [heading for column in table.columns for heading in _headings(column.key, column.kind)]


def _values(table: Table) -> Iterator[list[Any]]:
    """Yield the cells of every row as plain values, intervals as three of them."""
    for row in table.rows:
        cells = ((cell.value, cell.low, cell.high) if isinstance(cell, Interval) else (cell,) for cell in row)
        yield [_finite(plain) for part in cells for plain in part]


def _finite(plain: str | int | float) -> str | int | float | None:
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def _headings(key: str, kind: Kind) -> tuple[str, ...]:
    return (key, f"{key}_low", f"{key}_high") if kind == "interval" else (key,)


def _plain(cell: Cell, kind: Kind) -> Iterator[str]:
    if isinstance(cell, Interval) != (kind == "interval"):
        raise ValueError(f"expected a cell of kind {kind}, found {cell!r}")
    if isinstance(cell, Interval):
        yield from (text for bound in (cell.value, cell.low, cell.high) for text in _plain(bound, "share"))
    elif isinstance(cell, float):
        yield "" if math.isnan(cell) else f"{cell:.6g}"
    else:
        yield f"'{cell}" if kind == "text" and FORMULA.match(str(cell)) else str(cell)


def to_latex(table: Table) -> str:
    """Write a booktabs tabular; shares in percent, the best of a column in bold."""
    spec = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    heading = " & ".join(escape(column.title) for column in table.columns)
    kinds = [column.kind for column in table.columns]
    rows = [
        " & ".join(
            _bold(escape(show(cell, kind)), (line, number) in table.bold)
            for number, (cell, kind) in enumerate(zip(row, kinds, strict=True))
        )
        for line, row in enumerate(table.rows)
    ]
    bounds = " 95 % intervals;" if "interval" in kinds else ""
    body = "".join(f"{row} \\\\\n" for row in rows)
    return (
        f"% {table.title};{bounds} needs \\usepackage{{booktabs}}\n"
        f"\\begin{{tabular}}{{{spec}}}\n\\toprule\n{heading} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"
    )


def _bold(text: str, wanted: bool) -> str:
    return f"\\textbf{{{text}}}" if wanted else text


def to_markdown(table: Table) -> str:
    """Write a table as GitHub does, numbers to the right; shares in percent."""
    kinds = [column.kind for column in table.columns]
    lines = [[column.title for column in table.columns], ["---" if kind == "text" else "---:" for kind in kinds]]
    lines += [[show(cell, kind) for cell, kind in zip(row, kinds, strict=True)] for row in table.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def escape(text: str) -> str:
    """Escape text so that LaTeX prints it as it is."""
    return text.translate(ESCAPES)


def show(cell: Cell, kind: Kind) -> str:
    """Write a cell for people: shares in percent with one digit."""
    if math.isnan(cell.value if isinstance(cell, Interval) else cell if isinstance(cell, float) else 0):
        return "-"
    if isinstance(cell, Interval):
        return f"{percent(cell.value)} [{percent(cell.low)}, {percent(cell.high)}]"
    if kind == "share":
        return percent(float(cell))
    if kind == "count":
        return f"{cell:,}"
    return f"{cell:.4g}" if kind == "number" else str(cell)
