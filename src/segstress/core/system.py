"""What differs between operating systems, in one place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .errors import BadInput


def cache_folder() -> Path:
    """Return the folder in which a user's programs keep what they can work out again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "segstress" / "cache"
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or usual) / "segstress"


def cores() -> int:
    """Count the cores that this process may use; where the system does not tell, those that there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def peak_memory() -> int:
    """Return the most bytes of memory that this process has held so far; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def hold(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed, or share its lock; whether nobody else held it otherwise."""
    if sys.platform == "win32":
        raise OSError("segstress needs POSIX file locks, which Windows lacks; run it under WSL")
    import fcntl

    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_running(process: int) -> bool:
    """Tell whether there is a process of that number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
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


def check_device(name: str) -> None:
    """Refuse a device that cannot be used here."""
    fault = _device_fault(name)
    if fault:
        raise BadInput(f"device '{name}' cannot be used: {fault}; try --device cpu")


def has_device(name: str) -> bool:
    """Tell whether a device can be used here."""
    return not _device_fault(name)


def is_device(name: str) -> bool:
    """Tell whether any machine could have a device of that name."""
    import torch

    try:
        torch.device(name)
    except RuntimeError:
        return False
    return True


def _device_fault(name: str) -> str:
    import torch

    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        return str(error).splitlines()[0]
    return ""
