"""Files that are whole or absent, and one writer at a time in a run's folder."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import BadInput
from .remote import RemotePath
from .system import flush_folder, hold, is_running

TEMPORARY = re.compile(r"\..+?\.(\d{1,9})(?:@(.*))?")  # as `write` names them: process, and since 0.2.0 its machine
HOST = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
OLD = 24 * 3600  # seconds after which a temporary file of another machine was left by a process that is gone
_listeners: list[Callable[[Path], None]] = []


def write(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write under a temporary name, flush to the disk, rename: a crash leaves the old file or the new one."""
    if isinstance(path, RemotePath):  # whole or absent by itself
        path.write_bytes(data)
        return
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.replace(path)
        flush_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BadInput(
            f"cannot write {path}: {error.strerror or error}; make room or choose another --out "
            "(what is finished is kept, and the same command goes on from there)"
        ) from error
    for listen in _listeners:
        listen(path)


def temporary_name(path: Path) -> Path:
    """Return a name for a file that is not whole yet; no other process has it, on any machine."""
    return path.with_name(f".{path.name}.{os.getpid()}@{HOST}")


@contextmanager
def noting() -> Iterator[list[Path]]:
    """Note the files that this process writes meanwhile, in their order."""
    written: list[Path] = []
    listener = written.append
    _listeners.append(listener)
    try:
        yield written
    finally:
        _listeners.remove(listener)


def read_bounded(path: Path, most: int, what: str = "file") -> bytes:
    """Read a file that is not larger than such files are."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        raise BadInput(f"{what} {path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > most:
        raise BadInput(f"{what} {path} is larger than {most:,} bytes, the most that is read")
    return data


def write_all(handle: int, data: bytes) -> None:
    """Write every byte; a system may take fewer at a time than it is given."""
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a run's folder; a second writer is turned away."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise BadInput(f"cannot write to {folder}: {error.strerror}; choose another --out") from error
    if not hold(handle):
        os.close(handle)
        raise BadInput(f"{folder} is in use by another segstress process; wait for it or choose another --out")
    sweep(folder)
    try:
        yield
    finally:
        os.close(handle)


def is_locked(folder: Path) -> bool:
    """Tell whether a process holds a run's folder alone; several may ask at once."""
    try:
        handle = os.open(folder / ".lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not hold(handle, shared=True)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes have left; files of other machines once old."""
    for path in list(folder.rglob(".*")):
        name = TEMPORARY.fullmatch(path.name)
        if name and (not is_running(int(name[1])) if name[2] in (None, HOST) else _is_old(path)):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_old(path: Path) -> bool:
    try:
        return path.is_file() and time.time() - path.stat().st_mtime > OLD
    except OSError:  # its process has renamed it
        return False
