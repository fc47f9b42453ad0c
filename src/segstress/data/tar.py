"""Tar shards in the layout of WebDataset: pools too large for a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

import pyarrow as pa
from pydantic import BeforeValidator

from ..core import BadImage, BadInput, settings
from ..core.file_hashes import file_hashes
from ..core.remote import RemotePath
from .dataset import READERS, Stretch, datasets
from .pool import Pool
from .reading import decode_image
from .sample import Sample, unlabelled
from .tar_index import ENDINGS, find_image, is_compressed, list_images, read_bytes, title

UNPACKING = Lock()  # threads share the place up to which a compressed shard is unpacked


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


@datasets.register("tar")
@settings
class Tar(Pool):
    """Every image inside the .tar, .tar.gz or .tgz files of a folder, or inside one; nothing is unpacked to disk."""

    member: Annotated[tuple[str, ...], BeforeValidator(_several)] | None = None
    # of samples of several files, the ends of those that are images, such as jpg or left.png; none = every image

    def shards(self) -> list[Path]:
        """Return the archives in their order."""
        if self.root.is_file():
            return [self.root]
        shards = sorted(path for path in self.root.glob("*") if path.name.endswith(ENDINGS))
        if not shards:
            raise BadInput(f"{self.root} holds no .tar files; expected shards of images ({', '.join(ENDINGS)})")
        names: dict[str, Path] = {}
        for shard in shards:
            if names.setdefault(title(shard), shard) != shard:
                raise BadInput(f"{names[title(shard)]} and {shard} share the id '{title(shard)}'; keep one of them")
        return shards

    @cached_property
    def _shards(self) -> dict[str, Path]:
        return {title(shard): shard for shard in self.shards()}

    @cached_property
    def _ids(self) -> list[str]:
        return sorted(f"{name}/{image}" for name, shard in self._shards.items() for image in _names(self._list(shard)))

    def _list(self, shard: Path) -> pa.Table:
        table = list_images(shard)
        if self.member is None:
            return table
        return table.filter(pa.array([end_of(name) in self.member for name in _names(table)], pa.bool_()))

    @property
    def readers(self) -> int:
        """Return how many threads may read it at once; a compressed shard is unpacked in its order, by one."""
        return 1 if any(map(is_compressed, self._shards.values())) else READERS

    def ids(self) -> list[str]:
        """Return shard and name in it."""
        return self._ids

    def stretches(self) -> Iterator[tuple[str, ...]]:
        """Yield the ids of one shard after the other, each in the order in which its images lie."""
        for name, shard in self._shards.items():
            yield self._in_order(name, shard)

    def outline(self) -> Iterator[Stretch]:
        """Yield the shards, none of which is listed for it."""
        for name, shard in self._shards.items():
            size = shard.stat().st_size
            yield Stretch(f"{size}-{name}", size=size)

    def stretch(self, name: str) -> tuple[str, ...]:
        """List one shard."""
        title_of = name.partition("-")[2]
        return self._in_order(title_of, self._shards[title_of])

    def _in_order(self, name: str, shard: Path) -> tuple[str, ...]:
        return tuple(f"{name}/{image}" for image in _names(self._list(shard).sort_by("offset")))

    def contents(self) -> Any:
        """Return names and sizes of all members, and the hashes of their archives."""
        tables = {name: self._list(shard) for name, shard in self._shards.items()}
        members = sorted(
            (f"{name}/{image}", length)
            for name, table in tables.items()
            for image, length in zip(_names(table), table["length"].to_pylist(), strict=True)
        )
        hashes = file_hashes(self._shards[name] for name, table in tables.items() if len(table))
        return [members, sorted((path.name, hash_) for path, hash_ in hashes.items())]

    def check(self) -> None:
        """Refuse shards whose samples are several images, where nothing says which are meant."""
        if self.member is None:
            _refuse_several(self.shards()[0])
        super().check()

    def read(self, id: str) -> Sample:
        """Read one image from its place in the shard."""
        name, _, image = id.partition("/")
        shard = self._shards.get(name)
        span = find_image(shard, image) if shard else None
        if shard is None or span is None:
            raise BadImage(f"{self.name} has no image '{id}'")
        return unlabelled(id, decode_image(Path(image), _bytes(shard, *span), self.encoding))


def _names(table: pa.Table) -> list[str]:
    names: list[str] = table["name"].to_pylist()
    return names


def end_of(name: str) -> str:
    """Return what follows the first dot of a file's name, by which a sample's members are told apart."""
    return name.rpartition("/")[2].partition(".")[2]


def _refuse_several(shard: Path) -> None:
    samples: dict[str, set[str]] = {}
    for name in _names(list_images(shard)):
        samples.setdefault(name.removesuffix(end_of(name)), set()).add(end_of(name))
    ends = next(iter(samples.values()), set())
    if len(ends) > 1 and all(other == ends for other in samples.values()):
        endings = ", ".join(sorted(ends))
        raise BadInput(
            f"{shard}: each sample has {len(ends)} images ({endings}); say which to read, as ?member={min(ends)}"
        )


def _bytes(shard: Path, offset: int, length: int) -> bytes:
    if is_compressed(shard):
        with UNPACKING:
            return read_bytes(shard, offset, length)
    if isinstance(shard, RemotePath):
        return shard.read_range(offset, length)
    handle = os.open(shard, os.O_RDONLY)
    try:
        return os.pread(handle, length, offset)
    finally:
        os.close(handle)
