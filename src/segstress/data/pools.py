"""Pools too large for a folder: tar shards in the layout of WebDataset, and Parquet lists of images."""

from __future__ import annotations

import os
import tarfile
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from ..core import BadImage, BadInput, settings
from .dataset import Dataset, datasets
from .reading import SUFFIXES, Picture, decode_image, read_image
from .sample import Sample


class Place(NamedTuple):
    """Where the bytes of one image lie inside an archive."""

    shard: Path
    offset: int
    length: int
    name: str


@settings
class Pool(Dataset):
    """Unlabelled images; their classes come from the models or from a class file."""

    rest: ClassVar = "root"
    root: Path

    classes: ClassVar[tuple[str, ...]] = ()
    void: ClassVar[str] = "none"

    @property
    def name(self) -> str:
        """Its own name."""
        return self.root.resolve().stem


@datasets.register("tar")
@settings
class Tar(Pool):
    """Every image inside the .tar files of a folder, or inside one; read by offset, nothing is unpacked."""

    @cached_property
    def _places(self) -> dict[str, Place]:
        shards = [self.root] if self.root.is_file() else sorted(self.root.glob("*.tar"))
        if not shards:
            raise BadInput(f"{self.root} holds no .tar files; expected shards of images")
        found: dict[str, Place] = {}
        for shard in shards:
            found |= {f"{shard.stem}/{place.name}": place for place in _list_members(shard)}
        return found

    def ids(self) -> list[str]:
        """Shard and name in it."""
        return sorted(self._places)

    def contents(self) -> Any:
        """Names and sizes of all members."""
        return [(id, self._places[id].length) for id in self.ids()]

    def read(self, id: str) -> Sample:
        """One image, from its place in the shard."""
        if id not in self._places:
            raise BadImage(f"{self.name} has no image '{id}'")
        place = self._places[id]
        handle = os.open(place.shard, os.O_RDONLY)
        try:
            data = os.pread(handle, place.length, place.offset)
        finally:
            os.close(handle)
        return _sample(id, decode_image(Path(place.name), data))


@datasets.register("list")
@settings
class Listed(Pool):
    """The images whose paths a Parquet file lists in its column `path`, relative to the file."""

    column: str = "path"

    @cached_property
    def _paths(self) -> list[str]:
        try:
            table = pq.read_table(self.root, columns=[self.column])
        except (OSError, pa.ArrowInvalid, KeyError) as error:
            raise BadInput(
                f"{self.root} cannot be read as Parquet with a column '{self.column}' ({str(error).splitlines()[0]})"
            ) from error
        return list(dict.fromkeys(table[self.column].to_pylist()))

    def ids(self) -> list[str]:
        """The paths as they are written."""
        return self._paths

    def contents(self) -> Any:
        """The paths; the images' own hashes are in the index."""
        return self._paths

    def read(self, id: str) -> Sample:
        """One image file."""
        return _sample(id, read_image(self.root.parent / id))


def _list_members(shard: Path) -> list[Place]:
    try:
        with tarfile.open(shard, "r:") as archive:
            return [
                Place(shard, member.offset_data, member.size, member.name)
                for member in archive
                if member.isreg() and member.name.lower().endswith(SUFFIXES)
            ]
    except (tarfile.TarError, OSError) as error:
        raise BadInput(f"{shard} is no readable tar file ({error}); compressed ones must be unpacked first") from error


def _sample(id: str, picture: Picture) -> Sample:
    nothing = torch.zeros(picture.pixels.shape[1:], dtype=torch.int64)
    return Sample(id, picture.pixels, nothing, nothing.bool(), picture.source, picture.notes)
