"""Tar shards in the layout of WebDataset: pools too large for a folder."""

from __future__ import annotations

import os
import tarfile
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..core import BadImage, BadInput, settings
from ..core.file_hashes import file_hashes
from .dataset import datasets
from .pool import Pool, unlabelled
from .reading import SUFFIXES, decode_image
from .sample import Sample


class ArchiveMember(NamedTuple):
    """Where the bytes of one image lie inside an archive."""

    shard: Path
    offset: int
    length: int
    name: str


@datasets.register("tar")
@settings
class Tar(Pool):
    """Every image inside the .tar files of a folder, or inside one; read by offset, nothing is unpacked."""

    @cached_property
    def _members(self) -> dict[str, ArchiveMember]:
        shards = [self.root] if self.root.is_file() else sorted(self.root.glob("*.tar"))
        if not shards:
            raise BadInput(f"{self.root} holds no .tar files; expected shards of images")
        members: dict[str, ArchiveMember] = {}
        for shard in shards:
            members |= {f"{shard.stem}/{member.name}": member for member in _list_members(shard)}
        return members

    def ids(self) -> list[str]:
        """Return shard and name in it."""
        return sorted(self._members)

    def contents(self) -> Any:
        """Return names and sizes of all members, and the hashes of their archives."""
        hashes = file_hashes({member.shard for member in self._members.values()})
        members = [(id, self._members[id].length) for id in self.ids()]
        return [members, sorted((path.name, hash_) for path, hash_ in hashes.items())]

    def read(self, id: str) -> Sample:
        """Read one image from its place in the shard."""
        if id not in self._members:
            raise BadImage(f"{self.name} has no image '{id}'")
        member = self._members[id]
        handle = os.open(member.shard, os.O_RDONLY)
        try:
            data = os.pread(handle, member.length, member.offset)
        finally:
            os.close(handle)
        return unlabelled(id, decode_image(Path(member.name), data, self.encoding))


def _list_members(shard: Path) -> list[ArchiveMember]:
    try:
        with tarfile.open(shard, "r:") as archive:
            return [
                ArchiveMember(shard, member.offset_data, member.size, member.name)
                for member in archive
                if member.isreg() and member.name.lower().endswith(SUFFIXES)
            ]
    except (tarfile.TarError, OSError) as error:
        raise BadInput(f"{shard} is no readable tar file ({error}); compressed ones must be unpacked first") from error
