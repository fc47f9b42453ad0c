"""Parquet files with images in their rows, such as Hugging Face writes them: pools too large for files of their own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..core import BadImage, BadInput, settings
from ..core.file_hashes import file_hashes, stamp
from ..core.remote import RemotePath
from .dataset import Stretch, datasets
from .pool import Pool
from .reading import decode_image
from .sample import Sample, unlabelled

DIGITS = 9  # of a row in an id, so that ids are in the order of rows


@datasets.register("parquet")
@settings
class Embedded(Pool):
    """Images whose bytes stand in a column of the .parquet files of a folder, or of one file; a row group at a time."""

    image: str = "image.bytes"  # the column; what stands inside another after a dot

    @cached_property
    def _shards(self) -> dict[str, Path]:
        paths = [self.root] if self.root.is_file() else sorted(self.root.glob("*.parquet"))
        if not paths:
            raise BadInput(f"{self.root} holds no .parquet files; expected rows with images in '{self.image}'")
        return {path.name.removesuffix(".parquet"): path for path in paths}

    def stretches(self) -> Iterator[tuple[str, ...]]:
        """Yield the ids of one row group after the other."""
        return map(self.stretch, (stretch.name for stretch in self.outline()))

    def outline(self) -> Iterator[Stretch]:
        """Yield the row groups, as the end of each file lists them."""
        for name, path in self._shards.items():
            first = 0
            for upto in _open(path, stamp(path), self.image)[1]:
                yield Stretch(f"{first}-{upto}-{name}", upto - first)
                first = upto

    def stretch(self, name: str) -> tuple[str, ...]:
        """Return the ids of a row group."""
        first, upto, file = name.split("-", 2)
        return tuple(f"{file}/{row:0{DIGITS}}" for row in range(int(first), int(upto)))

    def ids(self) -> list[str]:
        """Return file and row."""
        return [id_ for stretch in self.stretches() for id_ in stretch]

    def contents(self) -> Any:
        """Return the hashes of the files."""
        hashes = file_hashes(self._shards.values())
        return [(path.name, hashes[path]) for path in self._shards.values()]

    def read(self, id: str) -> Sample:
        """Read one image; its row group is kept for its neighbours."""
        name, _, row = id.partition("/")
        path = self._shards.get(name)
        number = int(row) if row.isascii() and row.isdigit() else -1
        stamped = stamp(path) if path else ""
        ends = _open(path, stamped, self.image)[1] if path else []
        if path is None or not 0 <= number < (ends[-1] if ends else 0):
            raise BadImage(f"{self.name} has no image '{id}'")
        group = bisect_right(ends, number)
        data = _rows(path, stamped, self.image, group)[number - (ends[group - 1] if group else 0)].as_py()
        if not data:
            raise BadImage(f"{id}: its column '{self.image}' is empty")
        return unlabelled(id, decode_image(Path(id), data, self.encoding))


@lru_cache(maxsize=4)
def _open(path: Path, stamped: str, column: str) -> tuple[pq.ParquetFile, list[int]]:
    """Open a file that looks so, and tell where each of its row groups ends."""
    try:
        remote = isinstance(path, RemotePath)
        file = pq.ParquetFile(path.open("rb") if remote else pa.OSFile(str(path)))  # a mere path may be misread
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInput(f"{path} cannot be read as Parquet ({str(error).splitlines()[0]})") from error
    kind: Any = pa.struct(file.schema_arrow)
    for part in column.split("."):
        index = kind.get_field_index(part) if pa.types.is_struct(kind) else -1
        if index < 0:
            names = ", ".join(file.schema_arrow.names)
            raise BadInput(f"{path} has no column '{column}', only {names}; say which holds the bytes, as ?image=jpg")
        kind = kind.field(index).type
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        raise BadInput(f"{path}: column '{column}' holds {kind}, expected the bytes of image files (binary)")
    sizes = (file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
    return file, list(accumulate(sizes))


@lru_cache(maxsize=1)
def _rows(path: Path, stamped: str, column: str, group: int) -> pa.Array:
    """Return the images of a row group; one is held at a time."""
    outer, *inner = column.split(".")
    try:
        table = _open(path, stamped, column)[0].read_row_group(group, columns=[column], use_threads=False)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadImage(f"{path}: row group {group} is damaged ({str(error).splitlines()[0]})") from error
    values = table[outer].combine_chunks()
    for part in inner:
        values = values.field(part)
    return values
