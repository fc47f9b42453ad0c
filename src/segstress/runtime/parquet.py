"""Parquet files that are whole or absent, read with one clear line where that fails."""

from __future__ import annotations

import io
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..core import BadInput
from ..core.files import write


def table_bytes(table: pa.Table) -> bytes:
    """Return a table as a Parquet file; equal tables give equal bytes."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def write_table(path: Path, table: pa.Table) -> None:
    """Write a Parquet file."""
    write(path, table_bytes(table))


def read_table(
    path: Path,
    schema: pa.Schema | None = None,
    remedy: str = "delete it and run the step again",
    later: Collection[str] = (),
) -> pa.Table:
    """Return the table of a file, with the columns of the schema where one is given; those added later may be null."""
    try:
        with pa.OSFile(str(path)) as stream:  # a path by itself may be taken for an address
            file = pq.ParquetFile(stream)
            stored = file.schema_arrow.names
            table = file.read(columns=None if schema is None else schema.names, use_threads=False)  # a shard is small
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInput(f"{path} cannot be read ({str(error).splitlines()[0]}); {remedy}") from error
    if schema is None:
        return table
    lacking = [name for name in schema.names if name not in stored]
    for name in lacking:
        if name not in later:
            raise BadInput(
                f"{path} was written by another version of segstress: expected a column '{name}', found "
                f"{', '.join(stored)}; use that version, or run again with another --out"
            )
        table = table.append_column(schema.field(name), pa.nulls(len(table), schema.field(name).type))
    return table if table.schema.equals(schema) else table.select(schema.names).cast(schema)
