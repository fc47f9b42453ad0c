"""The rows of a cell's shards: tables of one kind, which rows were answered later, and what is answered twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .parquet import read_table
from .shard import LATER, SCHEMAS, TRACES

CHUNK = 2**18  # rows that are held at a time


def shard_table(folder: Path, name: str, stem: str, columns: Collection[str] = ()) -> pa.Table:
    """Return the rows of one kind of one shard, all columns or some."""
    path = folder / f"{name}-{stem}.parquet"
    if name == "traces" and not path.exists():  # not every perturbation tells how it got on
        return TRACES.empty_table()
    schema = pa.schema([field for field in SCHEMAS[name] if not columns or field.name in columns])
    return read_table(path, schema, "delete its shard and run the same command again", LATER.get(name, ()))


def shard_tables(folder: Path, name: str, stems: Sequence[str], columns: Collection[str] = ()) -> pa.Table:
    """Return the rows of one kind of several shards, one after the other."""
    tables = [shard_table(folder, name, stem, columns) for stem in stems]
    return pa.concat_tables(tables) if tables else SCHEMAS[name].empty_table()


def shard_chunks(folder: Path, name: str, stems: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the rows of one kind of several shards, many at a time."""
    tables: list[pa.Table] = []
    rows = 0
    for stem in stems:
        tables.append(shard_table(folder, name, stem))
        rows += len(tables[-1])
        if rows >= CHUNK:
            yield pa.concat_tables(tables)
            tables, rows = [], 0
            pa.default_memory_pool().release_unused()
    if rows:
        yield pa.concat_tables(tables)


def together(folder: Path, stems: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the images that met the model together, in their order, with the shard in which they lie.

    A folder of an earlier version does not tell: there each image stands alone."""
    batches: dict[tuple[str, str], dict[str, None]] = {}
    for stem in stems:
        images = shard_table(folder, "images", stem, ("image", "finisher", "batch"))
        images = images.filter(pc.equal(images["finisher"], ""))
        for image, batch in zip(images["image"].to_pylist(), images["batch"].to_pylist(), strict=True):
            batches.setdefault((stem, batch or image), {})[image] = None
    return [(stem, list(batch)) for (stem, _), batch in batches.items()]


def doubled(folder: Path, stems: Sequence[str]) -> dict[str, str]:
    """Return the shards that answer what one before them has answered, with what is wrong with them."""
    tables = [shard_table(folder, "images", stem, ("image", "goal", "status")) for stem in stems]
    tables = [table.filter(pc.equal(table["status"], "ok")) for table in tables]
    if not tables:
        return {}
    answers = pa.concat_tables(tables)
    keys = _keys(answers).combine_chunks().dictionary_encode().indices.to_numpy()
    shards = np.repeat(np.arange(len(stems)), [len(table) for table in tables])
    _, first = np.unique(keys, return_index=True)
    earlier = shards[first][keys]  # keys are numbered from 0, as they are met
    wrong = {}
    for row in np.flatnonzero(shards != earlier):
        stem, before, image = stems[shards[row]], stems[earlier[row]], answers["image"][int(row)]
        wrong[stem] = f"images-{stem}.parquet is doubled: images-{before}.parquet answers '{image}' too"
    return wrong


def without_superseded(images: pa.Table, every: pa.Table) -> pa.Table:
    """Drop rows of images that any shard answered later: for the same goal, or at all where none was reached."""
    fine, answered = pc.equal(images["status"], "ok"), every.filter(pc.equal(every["status"], "ok"))
    if pc.all(fine).as_py():
        return images
    same_goal = pc.is_in(_keys(images), _keys(answered).combine_chunks())
    any_goal = pc.is_in(images["image"], answered["image"].combine_chunks())
    late = pc.if_else(pc.equal(images["goal"], ""), any_goal, same_goal)
    return images.filter(pc.or_(fine, pc.invert(late)))


def _keys(images: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(images["image"], images["goal"], "|")
