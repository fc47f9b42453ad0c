"""Files on object stores and other file systems of fsspec (`s3://`, `gs://`, `memory://`), handled as paths are.

The only file that imports fsspec. A put of an object store is whole or absent by itself, so nothing is renamed.
"""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import PlainSerializer, WithJsonSchema, WrapValidator

from .configuration import digest
from .errors import BadInput
from .system import cache_folder

MARK = "://"
FRESH = 30.0  # seconds for which it is believed that a file is what it was


class RemotePath(type(Path())):  # type: ignore[misc] # the system's own kind of path, for all that is about names
    """An address that offers what is asked of a path here, as far as object stores can."""

    def __str__(self) -> str:
        """Return the address; of what is relative to one, the way."""
        first, *rest = self.parts or ("",)
        return f"{first}//{'/'.join(rest)}" if first.endswith(":") else "/".join(self.parts)

    def __repr__(self) -> str:
        """Return it as Python writes it."""
        return f"RemotePath({str(self)!r})"

    def resolve(self, strict: bool = False) -> RemotePath:
        """Return itself: addresses have no links."""
        return self

    def absolute(self) -> RemotePath:
        """Return itself."""
        return self

    def exists(self) -> bool:
        """Tell whether there is a file or a folder."""
        return bool(self._system.exists(str(self)))

    def is_file(self) -> bool:
        """Tell whether there is a file."""
        return bool(self._system.isfile(str(self)))

    def is_dir(self) -> bool:
        """Tell whether there is a folder, which object stores know by what lies in it."""
        return bool(self._system.isdir(str(self)))

    def open(self, mode: str = "rb", *_: Any) -> Any:
        """Open the file for reading."""
        return self._system.open(str(self), mode)

    def read_bytes(self) -> bytes:
        """Read the whole file."""
        return bytes(self._system.cat_file(str(self)))

    def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
        """Read the whole file as text."""
        return self.read_bytes().decode(encoding or "utf-8", errors or "strict")

    def read_range(self, offset: int, length: int) -> bytes:
        """Read a stretch of the file, and no more."""
        return bytes(self._system.cat_file(str(self), start=offset, end=offset + length))

    def write_bytes(self, data: Any) -> int:
        """Put the file, whole or not at all."""
        self._system.pipe_file(str(self), data)
        return len(data)

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """Yield the files of the folder whose names fit."""
        return (path for path in self.rglob(pattern) if path.parent == self)

    def rglob(self, pattern: str) -> Iterator[RemotePath]:
        """Yield the files anywhere below whose names fit."""
        for address in self._system.find(str(self)):
            path = type(self)(self._system.unstrip_protocol(address))
            if fnmatch(path.name, pattern):
                yield path

    def stat(self, *, follow_symlinks: bool = True) -> Any:
        """Return what changes when the file does, under the names that the system's own files use."""
        facts = _facts(str(self), int(time.monotonic() / FRESH))
        number = int(digest(version_of(facts)), 16) % 2**53
        return SimpleNamespace(
            st_size=facts["size"], st_mtime_ns=number, st_ctime_ns=0, st_ino=0, st_mtime=0.0, st_mode=stat.S_IFREG
        )

    @property
    def _system(self) -> Any:
        return open_system(protocol_of(self))


@lru_cache(maxsize=4096)
def _facts(address: str, moment: int) -> Any:
    return open_system(protocol_of(address)).info(address)


def version_of(facts: Mapping[str, Any]) -> str:
    """Return what changes when a file does, of what its file system says about it."""
    version = next((facts[key] for key in ("ETag", "etag", "md5Hash", "mtime", "created") if key in facts), "")
    return f"{facts['size']} {version.timestamp() if isinstance(version, datetime) else version}"


def protocol_of(address: Path | str) -> str:
    """Return the name of an address's file system."""
    return str(address).partition(MARK)[0]


@lru_cache(maxsize=8)
def open_system(protocol: str, purpose: str = "") -> Any:
    """Return a file system; what is listed for one purpose is not remembered for another."""
    try:
        import fsspec

        return fsspec.filesystem(protocol, skip_instance_cache=bool(purpose))
    except (ImportError, ValueError) as error:
        raise BadInput(
            f"{protocol}{MARK}: {str(error).splitlines()[0]}; pip install 'segstress[fsspec]' and the package of that "
            "file system, such as s3fs or gcsfs"
        ) from error


def is_address(value: object) -> bool:
    """Tell whether something names a file of fsspec rather than one of this machine."""
    return isinstance(value, RemotePath) or (isinstance(value, str) and MARK in value)


def address_in(path: Path) -> str:
    """Return the address that was read as a path, and lost a slash by it; nothing of what is none."""
    lost = re.fullmatch("([a-z][a-z0-9+]+):(/.*)?", str(path))
    return f"{lost[1]}{MARK}{(lost[2] or '').lstrip('/')}" if lost else ""


def path_of(text: str) -> Path:
    """Return what an address or a path names."""
    return RemotePath(text) if is_address(text) else Path(text)


def _validate(value: Any, check: Callable[[Any], Any]) -> Any:
    return path_of(str(value)) if is_address(value) else check(value)


def local_copy(path: Path) -> Path:
    """Return a file of this machine with the same content: itself, or a copy in the cache, fetched once."""
    if not isinstance(path, RemotePath):
        return path
    from .files import write

    facts = path.stat()
    folder = cache_folder() / "remote" / digest([str(path), facts.st_size, facts.st_mtime_ns])
    copy = folder / path.name
    if not copy.exists():
        write(copy, path.read_bytes())
    return copy


AnyPath = Annotated[
    Path,
    WrapValidator(_validate),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "format": "path"}),
]
