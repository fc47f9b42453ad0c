"""An object store on this machine's disk for fsspec (`objects://`), which processes share, as they do not memory://.

It keeps a diary of what is put and removed, and fails where a file named `broken` says so."""

from __future__ import annotations

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
from fsspec import AbstractFileSystem


class Objects(AbstractFileSystem):
    """Files below the folder that OBJECTS names, put whole or not at all."""

    protocol = "objects"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        target = self._at(path)
        if (self._root() / "broken").exists() and "leases" not in str(path):
            raise OSError("the cable is out")
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._root() / secrets.token_hex(8)
        temporary.write_bytes(value)
        try:
            if mode == "create":
                os.link(temporary, target)
            else:
                temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        self._note("put", path)

    def put_file(self, lpath: str, rpath: str, **_: Any) -> None:
        self.pipe_file(rpath, Path(lpath).read_bytes())

    def get_file(self, rpath: str, lpath: str, **_: Any) -> None:
        Path(lpath).parent.mkdir(parents=True, exist_ok=True)
        Path(lpath).write_bytes(self._at(rpath).read_bytes())

    def cat_file(self, path: str, **_: Any) -> bytes:
        return self._at(path).read_bytes()

    def rm_file(self, path: str) -> None:
        self._at(path).unlink()
        self._note("remove", path)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        facts = self._at(path).stat()
        kind = "directory" if self._at(path).is_dir() else "file"
        name = self._strip_protocol(path)
        return {"name": name, "type": kind, "size": facts.st_size, "etag": f"{facts.st_mtime_ns} {facts.st_ino}"}

    def find(self, path: str, detail: bool = False, **_: Any) -> Any:
        names = [str(file.relative_to(self._root())) for file in self._at(path).rglob("*") if file.is_file()]
        return {name: self.info(name) for name in names} if detail else names

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._at(path).stat().st_mtime, UTC)

    def _at(self, path: str) -> Path:
        return self._root() / self._strip_protocol(path)

    def _note(self, what: str, path: str) -> None:
        with (self._root() / "diary").open("a") as diary:
            diary.write(f"{what} {self._strip_protocol(path)}\n")

    @staticmethod
    def _root() -> Path:
        return Path(os.environ["OBJECTS"])


class Unsafe(Objects):
    """One that cannot let one of several create a file."""

    protocol = "unsafe"

    def pipe_file(self, path: str, value: bytes, **_: Any) -> None:  # type: ignore[override]
        super().pipe_file(path, value)


for system in (Objects, Unsafe):
    fsspec.register_implementation(system.protocol, system, clobber=True)
