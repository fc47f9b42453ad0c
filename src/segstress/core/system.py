"""What differs between operating systems, in one place."""

from __future__ import annotations

import os
import sys


def cores() -> int:
    """How many cores this process may use; where the system does not tell, how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def hold(handle: int) -> bool:
    """Lock an open file until it is closed; whether nobody else held it."""
    if sys.platform == "win32":
        raise OSError("segstress needs POSIX file locks, which Windows lacks; run it under WSL")
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def flush_folder(folder: str | os.PathLike[str]) -> None:
    """Make a rename in a folder survive a loss of power, where folders can be opened."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
