"""Label maps of a shard that is not whole yet: an interruption loses the pass in hand, and none before it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..core import BadInput
from ..data.packed_arrays import pack, unpack

LENGTH = 8  # bytes before each record that tell how long it is


class Journal:
    """One record after another, each with a checksum of its own; what a crash cut short is dropped.

    It is not flushed to the disk: a killed process loses nothing by that, and a power cut only costs time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, maps: Mapping[str, np.ndarray]) -> None:
        """Add the maps of images that met the model together."""
        record = pack(maps)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.path.open("ab") as file:
                file.write(len(record).to_bytes(LENGTH, "big") + record)
        except OSError as error:
            raise BadInput(
                f"cannot write {self.path}: {error.strerror or error}; make room and run the same command again"
            ) from error

    def read(self) -> dict[str, np.ndarray]:
        """Read every map up to the first damaged record; cut that off with all after it, so that writing can go on."""
        if not self.path.exists():
            return {}
        data, start = self.path.read_bytes(), 0
        maps: dict[str, np.ndarray] = {}
        while start < len(data):
            begin = start + LENGTH
            end = begin + int.from_bytes(data[start:begin], "big")
            try:
                maps |= unpack(data[begin:end])
            except BadInput:
                with self.path.open("r+b") as file:
                    file.truncate(start)
                break
            start = end
        return maps

    def remove(self) -> None:
        """Forget the records, because their shard is written."""
        self.path.unlink(missing_ok=True)
