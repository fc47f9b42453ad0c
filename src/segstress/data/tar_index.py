"""What lies where in a tar shard: listed once, and kept beside it until the shard changes."""

from __future__ import annotations

import gzip
import tarfile
import time
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from ..core import BadImage, BadInput, digest
from ..core.errors import printable
from ..core.file_hashes import YOUNG, stamp
from ..core.files import write
from ..core.remote import RemotePath
from ..core.system import cache_folder
from .reading import SUFFIXES

COMPRESSED = (".tar.gz", ".tgz")
ENDINGS = (".tar", *COMPRESSED)
INDEX = pa.schema([("name", pa.string()), ("offset", pa.int64()), ("length", pa.int64())])
KEY = b"segstress.shard"  # metadata of an index: size and time of the shard that it is of


def is_compressed(shard: Path) -> bool:
    """Tell whether a shard must be unpacked as it is read."""
    return shard.name.endswith(COMPRESSED)


def title(shard: Path) -> str:
    """Return a shard's name without its ending."""
    ending = next((ending for ending in ENDINGS if shard.name.endswith(ending)), shard.suffix)
    return shard.name.removesuffix(ending)


def list_images(shard: Path) -> pa.Table:
    """Return name, offset and length of all images in a shard, in the order of names; of one name the last counts."""
    return _listed(shard, stamp(shard))


def find_image(shard: Path, name: str) -> tuple[int, int] | None:
    """Return offset and length of an image; inside what is unpacked, where the shard is compressed."""
    table = list_images(shard)
    names = table["name"].chunk(0)  # one chunk, as it was made
    row = bisect_left(range(len(names)), name, key=lambda row: names[row].as_py())
    if row == len(names) or names[row].as_py() != name:
        return None
    return table["offset"][row].as_py(), table["length"][row].as_py()


@lru_cache(maxsize=512)
def _listed(shard: Path, stamped: str) -> pa.Table:
    """List a shard that looks so; a worker opens the same shards again and again."""
    mark = _mark(shard)
    for path in _index_files(shard):
        with suppress(OSError, pa.ArrowInvalid), pa.OSFile(str(path)) as file:
            table = pq.ParquetFile(file).read(use_threads=False)
            if table.schema.equals(INDEX) and (table.schema.metadata or {}).get(KEY) == mark:
                return table.combine_chunks()
    spans = dict(_walk(shard))
    names = sorted(spans)
    columns = [names, *([spans[name][part] for name in names] for part in range(2))]
    table = pa.table([pa.array(*pair) for pair in zip(columns, INDEX.types, strict=True)], schema=INDEX)
    table = table.replace_schema_metadata({KEY: mark})
    if mark == _mark(shard) and shard.stat().st_mtime < time.time() - YOUNG:
        _keep(shard, table)
    return table


def _walk(shard: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        how: Literal["r:gz", "r:"] = "r:gz" if is_compressed(shard) else "r:"
        with shard.open("rb") as file, tarfile.open(fileobj=file, mode=how) as archive:
            while member := archive.next():
                archive.members = []  # type: ignore[attr-defined] # a kilobyte each; nobody asks for them again
                if member.isreg() and member.name.lower().endswith(SUFFIXES):
                    yield printable(member.name), (member.offset_data, member.size)
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        expected = " or ".join(ENDINGS)
        raise BadInput(f"{shard} is no readable tar file ({error}); expected {expected} as its name says") from error


def _keep(shard: Path, table: pa.Table) -> None:
    """Write an index beside its shard; in the user's cache where that folder takes none, or nowhere."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="zstd")
    for path in _index_files(shard):
        with suppress(BadInput):
            write(path, buffer.getvalue().to_pybytes())
            return


def _index_files(shard: Path) -> list[Path]:
    """Return where an index may lie; of a shard elsewhere, in the user's cache alone."""
    kept = cache_folder() / "tar" / f"{digest(str(shard.absolute()))}.index"
    return [kept] if isinstance(shard, RemotePath) else [shard.with_name(f"{shard.name}.index"), kept]


def _mark(shard: Path) -> bytes:
    facts = shard.stat()
    return f"{facts.st_size} {facts.st_mtime_ns}".encode()


def read_bytes(shard: Path, offset: int, length: int) -> bytes:
    """Read a stretch of what a compressed shard unpacks to; forwards it is fast, backwards it begins anew."""
    try:
        unpacked = _unpacking(shard, stamp(shard))
        unpacked.seek(offset)
        return unpacked.read(length)
    except (OSError, EOFError, zlib.error) as error:
        _unpacking.cache_clear()
        raise BadImage(f"{shard} is damaged ({error}); fetch it again") from error


@lru_cache(maxsize=1)
def _unpacking(shard: Path, stamped: str) -> gzip.GzipFile:
    return gzip.open(shard.open("rb") if isinstance(shard, RemotePath) else shard, "rb")
