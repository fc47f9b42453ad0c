"""A shard as files: its rows as tables, its pictures and label maps as packed arrays, read a shard at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..data.packed_arrays import pack, unpack
from .parquet import table_bytes
from .shard import SCHEMAS, Shard
from .shard_tables import shard_table


def packed(shard: Shard, stem: str) -> dict[str, bytes]:
    """Return the files of a shard, by their names; not every perturbation tells how it got on."""
    pictures = {"kept": shard.kept, "maps": shard.maps}
    files = {f"{name}-{stem}.zst": pack(arrays) for name, arrays in pictures.items() if arrays}
    for name, schema in SCHEMAS.items():
        rows = getattr(shard, name)
        if name != "traces" or rows:
            files[f"{name}-{stem}.parquet"] = table_bytes(pa.Table.from_pylist(rows, schema))
    return files


def shard_arrays(
    folder: Path, name: str, stems: Sequence[str], ids: Collection[str] | None
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the kept images or label maps of every shard; of some images, only of the shards that have any of them."""
    for stem in stems:
        path = folder / f"{name}-{stem}.zst"
        if path.exists() and (ids is None or _has_any(folder, stem, ids)):
            yield unpack(path.read_bytes())


def _has_any(folder: Path, stem: str, ids: Collection[str]) -> bool:
    return not set(ids).isdisjoint(shard_table(folder, "images", stem, ("image",))["image"].to_pylist())


def image_of(key: str) -> str:
    """Return the image to which an array belongs."""
    return key.partition("|")[2]
