"""The first screen of every page: the verdict, and what speaks for and against believing it."""

from __future__ import annotations

from typing import NamedTuple

from ...metrics.intervals import Interval
from ...results.record import RunRecord
from .naming import percent
from .table import Column, Table

HIDDEN = ("model", "data", "numerics", "versions", "machine")  # long; the files have them


class Point(NamedTuple):
    """One thing that a reader asks before believing a figure."""

    name: str
    words: str
    good: bool  # else it is marked


def bounds(share: Interval) -> str:
    """Write a share with its interval: `12.3 % (11.0 to 13.9)`."""
    return f"{percent(share.value)} % ({percent(share.low)} to {percent(share.high)})"


def completeness(alarms: int) -> Point:
    """Say whether all that was asked has an answer; what has none is named above."""
    words = f"{alarms} of the perturbations lack answers, named above" if alarms else "every image answered"
    return Point("INCOMPLETE" if alarms else "Complete", words, good=not alarms)


def sealed(seal: str) -> Point:
    """Print the seal of a run, or say that it has none."""
    return Point("Seal", seal or "none: the run is not finished, or was not sealed", good=bool(seal))


def cost(forwards: int, backwards: int) -> Point:
    """Say what a run cost."""
    return Point("Cost", f"{forwards:,} forward and {backwards:,} backward passes of an image", good=True)


def provenance(record: RunRecord) -> Table:
    """Return where every figure comes from: one line for each model and dataset."""
    keys = list(dict.fromkeys(key for source in record.sources for key in source))
    columns = tuple(Column(key.replace(" ", "_"), key.capitalize(), hidden=key in HIDDEN) for key in keys)
    rows = tuple(tuple(source.get(key, "") for key in keys) for source in record.sources)
    return Table("provenance", "Where it comes from", columns, rows)
