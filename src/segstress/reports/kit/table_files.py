"""The files of a table: which formats it is written in, and its bytes piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .export import csv_pieces, to_json, to_latex, to_parquet
from .table import Table

MANY = 50_000  # rows above which a table is not written in the formats of which one reads all or nothing
LARGE = ("csv", "parquet")
FORMATS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON", "tex": "LaTeX"}  # by the ending, as the page lists them
WRITERS: dict[str, Callable[[Table], Iterable[bytes]]] = {
    "csv": lambda table: map(str.encode, csv_pieces(table)),
    "tex": lambda table: [to_latex(table).encode()],
    "json": lambda table: [to_json(table).encode()],
    "parquet": lambda table: [to_parquet(table)],
}


def formats(table: Table) -> dict[str, str]:
    """Return the formats in which a table is written, by their endings."""
    return {ending: words for ending, words in FORMATS.items() if len(table.rows) <= MANY or ending in LARGE}


def table_files(table: Table, name: str) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the file of every format, with its bytes."""
    wanted = formats(table)
    yield from ((f"tables/{name}.{ending}", write(table)) for ending, write in WRITERS.items() if ending in wanted)
