"""The machine, the packages and the code with which a run is made."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from ..core.system import cores

DECIDING = ("torch", "numpy")  # packages on which rounding depends


def versions() -> dict[str, str]:
    """Return the versions of segstress and of all that it depends on directly, as far as it is installed."""
    lines = requires("segstress") or []
    names = dict.fromkeys(["segstress", *DECIDING, *(re.split(r"[^\w.-]", line)[0].lower() for line in lines)])
    versions = {}
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # of an extra that is not there
            continue
    return versions


def host() -> dict[str, Any]:
    """Return what the machine is, not what it is called: processor, cores and memory in GiB."""
    return {"processor": _processor(), "cores": cores(), "memory": _memory()}


def code(files: Iterable[Path]) -> dict[str, str]:
    """Return the commit of the files of users' models that lie in a git repository, and whether they were edited."""
    states = {path.name: _commit(path) for path in files}
    return {name: state for name, state in states.items() if state}


def _commit(path: Path) -> str:
    commit, changes = _git(path, "rev-parse", "HEAD"), _git(path, "status", "--porcelain", "--", path.name)
    if commit is None or changes is None:
        return ""
    return f"{commit}, edited since" if changes else commit


def _git(path: Path, *words: str) -> str | None:
    """Return what git says about a file; nothing where there is no git or no repository."""
    command = ["git", "-C", str(path.resolve().parent), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _memory() -> float:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):  # where the system does not tell
        return 0.0
