"""Parquet lists of images: pools whose files lie anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..core import BadInput, settings
from ..core.file_hashes import file_hashes, stamp
from ..core.remote import is_address, path_of
from .dataset import READERS, Stretch, datasets
from .pool import Pool
from .reading import read_image
from .sample import Sample, unlabelled


@datasets.register("list")
@settings
class Listed(Pool):
    """The images whose paths a Parquet file, or a folder of them, lists: addresses, or paths relative to the file.

    Paths are read a row group at a time, and only `ids` holds them all."""

    column: str = "path"

    @cached_property
    def _lists(self) -> list[Path]:
        lists = sorted(self.root.glob("*.parquet")) if self.root.is_dir() else [self.root]
        if not lists:
            raise BadInput(f"{self.root} holds no .parquet files; expected lists with a column '{self.column}'")
        return lists

    @property
    def readers(self) -> int:
        """Return how many threads may read it at once."""
        return READERS

    def outline(self) -> Iterator[Stretch]:
        """Yield the row groups, as the end of each list tells them."""
        for number, path in enumerate(self._lists):
            size = path.stat().st_size
            for group, rows in enumerate(_groups(path, stamp(path), self.column)):
                yield Stretch(f"{number}-{group}-{size}", rows)

    def stretch(self, name: str) -> tuple[str, ...]:
        """Return the paths of a row group, each once."""
        number, group, _ = name.split("-")
        path = self._lists[int(number)]
        return tuple(dict.fromkeys(_paths(path, self.column, int(group))))

    def stretches(self) -> Iterator[tuple[str, ...]]:
        """Yield the paths of one row group after the other."""
        return (self.stretch(stretch.name) for stretch in self.outline())

    def ids(self) -> list[str]:
        """Return the paths as they are written."""
        return list(dict.fromkeys(path for paths in self.stretches() for path in paths))

    def contents(self) -> Any:
        """Return the paths with the hashes of their files."""
        files = {path: self._locate(path) for path in self.ids()}
        hashes = file_hashes(files.values())
        return [(path, hashes[file]) for path, file in files.items()]

    def read(self, id: str) -> Sample:
        """Read one image file."""
        return unlabelled(id, read_image(self._locate(id), self.encoding))

    def _locate(self, path: str) -> Path:
        if is_address(path):
            return path_of(path)
        return (self.root if self.root.is_dir() else self.root.parent) / path


@lru_cache(maxsize=512)
def _groups(path: Path, stamped: str, column: str) -> list[int]:
    """Return the number of rows of each row group in a list that looks so."""
    with _opened(path, column) as file:
        return [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]


def _paths(path: Path, column: str, group: int) -> list[str]:
    with _opened(path, column) as file:
        paths: list[str] = file.read_row_group(group, columns=[column], use_threads=False)[column].to_pylist()
        return paths


@contextmanager
def _opened(path: Path, column: str) -> Iterator[pq.ParquetFile]:
    try:
        with path.open("rb") as handle:
            file = pq.ParquetFile(handle)
            if column not in file.schema_arrow.names:
                raise KeyError(f"it has {', '.join(file.schema_arrow.names)}")
            yield file
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"{path} cannot be read as Parquet with a column '{column}' ({reason})") from error
