"""A run's folder copied to an object store or back: what is there is left, and what makes a shard count comes last."""

from __future__ import annotations

from pathlib import Path

from ..core import BadInput
from ..core.files import TEMPORARY, write
from ..core.remote import RemotePath

APART = ("leases", ".lock")  # of processes of this machine
LAST = ("sums-", "manifest", "seal")  # files that say that others are whole


def publish(source: Path, goal: Path) -> int:
    """Copy what differs; return how many files were copied.

    Files whose content counts as whole by another's word are written before it, so that whoever reads meanwhile, or
    after a kill, sees a run that is not finished rather than a damaged one."""
    if not source.is_dir():
        raise BadInput(f"{source} is no folder of results; expected one made by segstress, here or at an address")
    found = {path.relative_to(source).as_posix(): path for path in source.rglob("*") if path.is_file()}
    names = [name for name in found if not _is_apart(name)]
    copied = 0
    for name in sorted(names, key=_rank):
        data, place = found[name].read_bytes(), goal / name
        if not place.is_file() or place.read_bytes() != data:
            _put(place, data)
            copied += 1
    return copied


def _is_apart(name: str) -> bool:
    first, _, last = name.split("/")[0], *name.rpartition("/")[1:]
    return first in APART or bool(TEMPORARY.fullmatch(last))


def _rank(name: str) -> tuple[int, str]:
    file = name.rpartition("/")[2]
    return next((rank for rank, start in enumerate(LAST, start=1) if file.startswith(start)), 0), name


def _put(place: Path, data: bytes) -> None:
    if isinstance(place, RemotePath):
        place.write_bytes(data)
    else:
        write(place, data)
