"""Addresses of fsspec at which several processes write: what was listed is never believed twice, faults are met again.

A fault of the network is waited out a few times; then one line says so."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from .errors import BadInput
from .remote import RemotePath, open_system, protocol_of, version_of

WAITS = (1.0, 4.0, 16.0)  # seconds before a failed request is made again
MANY = 20  # files above which all are listed rather than looked at one by one
PLAIN = (FileNotFoundError, FileExistsError, NotImplementedError, TypeError)  # answers, and no faults of the network


class Unreachable(BadInput):
    """An address that did not answer, again and again, or does not let this process in."""


class LivePath(RemotePath):
    """An address that others write to, with what is asked of a path here where processes share a folder."""

    def versions(self) -> dict[str, str]:
        """Return the files anywhere below by their names, with what changes when they do."""
        root = self._system._strip_protocol(str(self))
        try:
            listed = self._system.find(str(self), detail=True)
        except FileNotFoundError:
            return {}
        files = {name: facts for name, facts in listed.items() if facts["type"] == "file"}
        if root in files:
            raise BadInput(f"{self} is a file; expected the address of a run, such as s3://bucket/mine")
        return {name[len(root) :].strip("/"): version_of(facts) for name, facts in files.items()}

    def send(self, names: Iterable[str], folder: Path) -> dict[str, str]:
        """Put files of a folder under the same names here, each whole or not at all; their versions."""
        names = list(names)
        self._system.put([str(folder / name) for name in names], [str(self / name) for name in names])
        listed = self.versions() if len(names) > MANY else {name: (self / name)._version() for name in names}
        return {name: listed.get(name, "") for name in names}

    def fetch(self, names: Iterable[str], folder: Path) -> None:
        """Bring files into a folder, under the same names."""
        names = list(names)
        self._system.get([str(self / name) for name in names], [str(folder / name) for name in names])

    def create(self, data: bytes) -> bool:
        """Put a file unless it is there; of several who try at once one succeeds. Data are unlike those of others."""
        try:
            self._system.pipe_file(str(self), data, mode="create")
        except FileExistsError:
            return self.read_bytes() == data  # an earlier try of which the answer was lost
        return True

    def creates_alone(self) -> bool:
        """Tell whether this file system lets one of several create a file, by trying it under this name."""
        kind = type(open_system(protocol_of(self)))
        put = getattr(kind, "_pipe_file", kind.pipe_file)
        if put.__module__ == "fsspec.spec" or "mode" not in inspect.signature(put).parameters:
            return False  # what all inherit looks first and writes then
        try:
            return self.create(b"first") and not self.create(b"second")
        except (NotImplementedError, TypeError):
            return False
        finally:
            self.unlink(missing_ok=True)

    def modified(self) -> float:
        """Return when the file was written, by the clock of the store."""
        return float(self._system.modified(str(self)).timestamp())

    def write_bytes(self, data: Any) -> int:
        """Put the file, whole or not at all."""
        try:
            return super().write_bytes(data)
        except FileNotFoundError as error:
            raise BadInput(f"{self} cannot be written: {error}") from error

    def touch(self, mode: int = 0o666, exist_ok: bool = True) -> None:
        """Write an empty file anew."""
        self.write_bytes(b"")

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the file."""
        with suppress(*([FileNotFoundError] if missing_ok else ())):
            self._system.rm_file(str(self))

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: object stores know folders by what lies in them."""

    def rmdir(self) -> None:
        """Do nothing, likewise."""

    def _version(self) -> str:
        try:
            return version_of(self._system.info(str(self)))
        except FileNotFoundError:  # somebody has removed it meanwhile
            return ""

    @property
    def _system(self) -> Any:
        system = open_system(protocol_of(self), "live")
        system.invalidate_cache()
        return _Patient(system, str(self))


class _Patient:
    """A file system whose methods are called again where the network fails."""

    def __init__(self, system: Any, address: str) -> None:
        self._wrapped, self._address = system, address

    def __getattr__(self, name: str) -> Any:
        return partial(self._call, getattr(self._wrapped, name))

    def _call(self, method: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
        for wait in (*WAITS, None):
            try:
                return method(*arguments, **settings)
            except PLAIN:
                raise
            except Exception as error:
                if wait is None or isinstance(error, PermissionError):
                    reason = str(error).partition("\n")[0] or type(error).__name__
                    raise Unreachable(f"{self._address} cannot be reached: {reason}") from error
            time.sleep(wait)
        raise AssertionError("unreachable")
