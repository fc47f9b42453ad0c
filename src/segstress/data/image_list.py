"""Parquet lists of images: pools whose files lie anywhere."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..core import BadInput, settings
from ..core.file_hashes import file_hashes
from ..core.remote import is_address, path_of
from .dataset import READERS, datasets
from .pool import Pool
from .reading import read_image
from .sample import Sample, unlabelled


@datasets.register("list")
@settings
class Listed(Pool):
    """The images whose paths a Parquet file lists in its column `path`: addresses, or paths relative to the file."""

    column: str = "path"

    @cached_property
    def _paths(self) -> list[str]:
        try:
            with self.root.open("rb") as file:
                table = pq.read_table(file, columns=[self.column])
        except (OSError, pa.ArrowInvalid, KeyError) as error:
            raise BadInput(
                f"{self.root} cannot be read as Parquet with a column '{self.column}' ({str(error).splitlines()[0]})"
            ) from error
        return list(dict.fromkeys(table[self.column].to_pylist()))

    @property
    def readers(self) -> int:
        """Return how many threads may read it at once."""
        return READERS

    def ids(self) -> list[str]:
        """Return the paths as they are written."""
        return self._paths

    def contents(self) -> Any:
        """Return the paths with the hashes of their files."""
        files = {path: self._locate(path) for path in self._paths}
        hashes = file_hashes(files.values())
        return [(path, hashes[file]) for path, file in files.items()]

    def read(self, id: str) -> Sample:
        """Read one image file."""
        return unlabelled(id, read_image(self._locate(id), self.encoding))

    def _locate(self, path: str) -> Path:
        return path_of(path) if is_address(path) else self.root.parent / path
