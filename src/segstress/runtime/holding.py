"""Who is in a run's folder: one process alone, or parts that share it, and never both.

A lock of the system keeps those that would be alone apart; it also tells at once which of this machine was killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from ..core import BadInput
from ..core.files import alone, is_locked
from .leases import EXPIRY, Leases

LEASES = "leases"  # folder of the processes in a run's folder


@contextmanager
def held_here(folder: Path, *, sole: bool) -> Iterator[Leases]:
    """Hold a folder. Whoever comes shows a sign of life and then looks for others', so that two never both go on."""
    leases = Leases(folder / LEASES, sole=sole)
    with alone(folder) if sole else nullcontext(), leases.beating():
        for owner in leases.soles():
            if sole or (leases.is_here(owner) and not is_locked(folder)):
                leases.bury(owner)
        if not sole:
            _refuse_beside(folder, leases)
        elif leases.others():
            raise BadInput(f"{folder} is in use by processes that share it by --part; wait for them or choose another")
        yield leases


def _refuse_beside(folder: Path, leases: Leases) -> None:
    """Refuse a part while a process without --part is there; one of this machine that only sleeps is alive."""
    alive = leases.others()
    for owner in leases.soles():
        if leases.is_here(owner) or owner in alive:
            leases.vouch(owner)  # lest this process, as it leaves, clears up after one that sleeps
            raise BadInput(
                f"--part: {folder} is in use by a process without --part ({owner}); wait for it, or, if it was killed "
                f"on another machine, {EXPIRY:.0f} s, or choose another --out"
            )
