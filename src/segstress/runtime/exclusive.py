"""Files, or objects of a store, of which one process can create each; and when they were touched."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.files import write_all
from ..core.live import LivePath


def create(path: Path, content: bytes) -> bool:
    """Create a file; whether no other process had."""
    if isinstance(path, LivePath):
        return path.create(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return False
    try:
        write_all(handle, content)
    finally:
        os.close(handle)
    return True


def modified(path: Path) -> float:
    """Tell when a file was touched, by the clock that dates it."""
    return path.modified() if isinstance(path, LivePath) else path.stat().st_mtime
