"""A run's folder copied to an object store or back: what is there is left, and what makes a shard count comes last."""

from __future__ import annotations

from pathlib import Path

from ..core import BadInput
from ..core.files import write

APART = ("leases",)  # folders of processes that are at work
UNFINISHED = (".", "begun-")  # locks, temporary names, and label maps of a shard that is not whole
LAST = (("sums-", "rows-"), ("manifest",), ("seal",))  # files that say that others are whole, those of earlier ranks


def publish(source: Path, goal: Path) -> int:
    """Copy what differs; return how many files were copied.

    Files whose content counts as whole by another's word are written before it, so that whoever reads meanwhile, or
    after a kill, sees a run that is not finished rather than a damaged one."""
    if not source.is_dir():
        raise BadInput(f"{source} is no folder of results; expected one made by segstress, here or at an address")
    files = {path.relative_to(source).as_posix(): path for path in source.rglob("*") if path.is_file()}
    names = [name for name in files if not is_apart(name)]
    copied = 0
    for name in sorted(names, key=lambda name: (rank(name), name)):
        data, copy = files[name].read_bytes(), goal / name
        if not copy.is_file() or copy.read_bytes() != data:
            write(copy, data)
            copied += 1
    return copied


def is_apart(name: str) -> bool:
    """Tell whether a file is of processes of this machine, or not whole yet, and stays where it is."""
    first, *_, last = name.split("/") * 2
    return first in APART or last.startswith(UNFINISHED) or ".." in name.split("/")


def rank(name: str) -> int:
    """Return the place of a file in the order in which a run's files may be copied."""
    file = name.rpartition("/")[2]
    return next((number for number, starts in enumerate(LAST, start=1) if file.startswith(starts)), 0)
