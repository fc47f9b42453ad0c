"""Files that are whole or absent, and one writer at a time in a run's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import BadInput
from .system import flush_folder, hold


def write(path: Path, data: bytes) -> None:
    """Write under a temporary name, flush to the disk, rename: a crash leaves the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        flush_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BadInput(
            f"cannot write {path}: {error.strerror or error}; make room or choose another --out "
            "(what is finished is kept, and the same command goes on from there)"
        ) from error


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
    try:
        yield
    finally:
        os.close(handle)
