"""Turns that processes take one after another, and the end of a folder of leases: whoever leaves last clears up."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .leases import Leases

BEGIN = "turn-"  # of the names of turns


def begin_turn(leases: Leases) -> str:
    """Take the turn after those that are done; nothing where another has it."""
    turn = _next(leases)
    if not leases.take(turn):
        return ""
    if _next(leases) == turn:
        return turn
    leases.release(turn)  # somebody has cleared up meanwhile: turns begin anew
    return ""


def _next(leases: Leases) -> str:
    done = leases.done()
    return next(turn for turn in map(f"{BEGIN}{{}}".format, count()) if turn not in done)


def clear_up(leases: Leases, turn: str) -> None:
    """Remove what is there, in a turn. Those that begin meanwhile wait for its end, or for the first to be gone.

    So what they write anew goes before the turns, and these from the first on: who takes a later one notices."""
    there, claim = {path.name for path in leases.folder.glob("*")}, leases.claim_of(turn)
    if leases.others() or claim != f"{turn}.0":  # who died in this turn is passed over as long as its claim lies
        leases.finish(turn)
        return
    last = [*(f"{BEGIN}{number}.done" for number in range(int(turn.removeprefix(BEGIN)))), claim]
    leases.remove(there - {*last})
    leases.remove(last)
