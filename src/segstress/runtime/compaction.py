"""A cell's many small shards joined to few: written whole beside the old ones, which count no more from then on.

The file of a joined shard's checksums comes last and names what it replaces, by the checksums of theirs. Before that
file is there the old shards count, afterwards the joined one does; so a kill loses nothing and doubles nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..core import digest
from ..core.files import write
from ..data.packed_arrays import pack, unpack
from . import shard_files
from .cell import Cell
from .parquet import table_bytes
from .shard import SCHEMAS
from .shard_tables import without_superseded
from .store import Store

SMALL = 1000  # images of a small cell
MOST_FILES = {True: 20, False: 100}  # of a small cell, and of one of up to 100,000 images
SHARE = 500  # images of a joined shard at least
MANY = 128  # shards that are joined while a run goes on
MOST_SHARDS = 13  # unless their bytes want more
MOST_BYTES = 512 * 2**20  # of a joined shard, since one is joined in memory; kept images are most of them


def compact_new(store: Store, cell: Cell) -> bool:
    """Join the shards that never were, where they have become many; for a run that goes on, whose workers add more."""
    if store.schema(cell) == 1:
        return False
    stems = [stem for stem in store.stems(cell) if not stem.startswith(shard_files.JOINED)]
    if len(stems) < MANY:
        return False
    _join_groups(store, cell, stems)
    store.drop_replaced(cell)
    return True


def compact(store: Store, cell: Cell) -> bool:
    """Join a cell's shards where they are many and all whole; tell whether they were joined."""
    if store.schema(cell) == 1 or store.damage(cell):  # without checksums nothing says what a joined shard replaces
        return False
    _tidy(store, cell)
    stems, files = store.stems(cell), shard_files.shard_files(store.cell_folder(cell))
    own = 2  # files beside the shards: what the cell is, and its manifest
    if sum(len(files[stem]) for stem in stems) + own <= MOST_FILES[sum(_images(store, cell, stems).values()) <= SMALL]:
        return False
    _join_groups(store, cell, stems)
    _tidy(store, cell)
    return True


def _images(store: Store, cell: Cell, stems: Sequence[str]) -> dict[str, int]:
    """Count the images of every shard."""
    return {stem: len(set(store.shard(cell, "images", stem)["image"].to_pylist())) for stem in stems}


def _join_groups(store: Store, cell: Cell, stems: Sequence[str]) -> None:
    files = shard_files.shard_files(store.cell_folder(cell))
    every = store.table(cell, "images", ordered=False)
    for group in _groups(stems, _images(store, cell, stems), files):
        if len(group) > 1:
            _join(store, cell, group, every)


def _tidy(store: Store, cell: Cell) -> None:
    """Delete what was joined, and let the manifest of a finished cell list the shards that are left."""
    store.drop_replaced(cell)
    folder, stems = store.cell_folder(cell), store.stems(cell)
    manifest = shard_files.read_manifest(folder)
    if manifest is not None and set(manifest[1]) != set(stems):
        shard_files.write_manifest(folder, manifest[0], stems)
        store.forget(cell, ())


def _groups(stems: Sequence[str], images: dict[str, int], files: dict[str, list[Path]]) -> Iterator[list[str]]:
    """Yield the shards to be joined, in their order: so many images, or bytes, together."""
    share = max(SHARE, -(-sum(images.values()) // MOST_SHARDS))
    group: list[str] = []
    size = bytes_ = 0
    for stem in stems:
        larger = sum(path.stat().st_size for path in files[stem])
        if group and (size >= share or bytes_ + larger > MOST_BYTES):
            yield group
            group, size, bytes_ = [], 0, 0
        group.append(stem)
        size, bytes_ = size + images[stem], bytes_ + larger
    yield group


def _join(store: Store, cell: Cell, stems: Sequence[str], every: pa.Table) -> None:
    folder = store.cell_folder(cell)
    stem = shard_files.JOINED + digest({other: shard_files.sums_checksum(folder, other) for other in stems})
    files: dict[str, bytes] = {}
    for kind in ("kept", "maps"):
        paths = [folder / f"{kind}-{other}.zst" for other in stems]
        arrays: dict[str, np.ndarray] = {}
        for path in filter(Path.exists, paths):
            arrays |= unpack(path.read_bytes())
        if arrays:
            files[f"{kind}-{stem}.zst"] = pack(arrays)
    for kind in SCHEMAS:
        tables = {other: store.shard(cell, kind, other) for other in stems}
        if kind == "images":
            tables = {other: _marked(without_superseded(table, every), other) for other, table in tables.items()}
        table = pa.concat_tables(tables.values())
        if kind != "traces" or len(table):
            files[f"{kind}-{stem}.parquet"] = table_bytes(table.combine_chunks())
    for name, data in files.items():
        write(folder / name, data)
    shard_files.write_sums(folder, stem, files, joined=stems)
    store.forget(cell, [stem])


def _marked(images: pa.Table, stem: str) -> pa.Table:
    """Tell batches of several shards apart, which are named by an image."""
    names = [batch and digest([stem, batch]) for batch in images["batch"].to_pylist()]
    index = images.column_names.index("batch")
    return images.set_column(index, images.schema.field(index), pa.array(names, pa.string()))
