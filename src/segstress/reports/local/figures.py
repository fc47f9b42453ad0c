"""The figures of localized damage: curves, and where and how far away it hurts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ...metrics.intervals import Interval
from ...results.local import LocalResult, mean_rce
from ..kit.drawing import Drawing, canvas
from ..kit.table import Column, Table
from .curves import ALONG, DRAWN, EVERY_POINT, band, banded, curves, fit_view, lines_of, points_of, rce_axis
from .placements import placements_drawing
from .positions import positions_drawing

RING = re.compile(r"distance-(\d+)-(\d+|inf)")
FURTHER = "Further away"


def distances(results: Sequence[LocalResult]) -> Drawing | None:
    """Draw RCE in rings around the region, a line for each model and what was done to it."""
    lines = rings_of(results)
    if not lines:
        return None
    figure, (axis,) = canvas(2.6 + 0.1 * len(lines))
    banded(axis, lines)
    axis.set(xlabel="pixels away from the region", ylabel="RCE, %")
    rce_axis(axis)
    fit_view([axis])
    figure.legend(loc="outside lower center", ncols=2)
    caption = (
        "Share of the clean accuracy that is lost, ring by ring: how far the damage spreads. Mean over severities and"
        f" regions; of several attacks all together. {band(len(lines))}"
    )
    return Drawing("distances", FURTHER, caption, figure)


def rings_of(results: Sequence[LocalResult]) -> dict[str, dict[str, Interval]]:
    """Return what was lost in every ring, for each model and what was done to it."""
    lines: dict[str, list[LocalResult]] = {}
    for result in results:
        if any(map(RING.fullmatch, result.perturbed)) and (result.final or not result.number):
            lines.setdefault(f"{result.model} {result.what}", []).append(result)
    zones = {zone for members in lines.values() for result in members for zone in result.perturbed}
    rings = sorted(filter(RING.fullmatch, zones), key=_near)
    return {
        line: {_pixels(ring): mean_rce(members, "accuracy", ring) for ring in rings} for line, members in lines.items()
    }


def _near(ring: str) -> int:
    bounds = RING.fullmatch(ring)
    return int(bounds[1]) if bounds else -1


def _pixels(ring: str) -> str:
    return ring.removeprefix("distance-").replace("-inf", " and more")


def _patched(results: Sequence[LocalResult]) -> list[LocalResult]:
    return [result for result in results if not math.isnan(result.ratio) and result.goal == "any"]


def _most_attacks(results: Sequence[LocalResult]) -> list[LocalResult]:
    most = max((result.number for result in results), default=0)
    return [result for result in results if result.together and result.number == most]


def _final_squares(results: Sequence[LocalResult]) -> list[LocalResult]:
    return [result for result in results if result.final and not math.isnan(result.side)]


CURVES: dict[str, Callable[[Sequence[LocalResult]], list[LocalResult]]] = {
    "severity": _patched,
    "ratio": _patched,
    "attacks": _most_attacks,
    "steps": _final_squares,
    "side": _final_squares,
    "eps": _final_squares,
}


def drawn(results: Sequence[LocalResult]) -> Table:
    """Tabulate every point of every curve with its interval, for figures that have no room for bands."""
    columns = (
        Column("figure", "Figure"),
        Column("line", "Line"),
        Column("zone", "Zone"),
        Column("at", "At"),
        Column("rce", "RCE", "interval"),
    )
    rows = [
        (along.title, line, zone, along.tick(value), lost)
        for name, chosen in CURVES.items()
        for along in (ALONG[name],)
        for line, members in lines_of(chosen(results), name, along.value).items()
        for zone in along.zones
        for value, lost in points_of(members, along, zone).items()
    ]
    rows += [
        (FURTHER, line, "rings", ring, lost)
        for line, rings in rings_of(results).items()
        for ring, lost in rings.items()
    ]
    note = "RCE of class-mean accuracy, in rings of accuracy; mean over a line's other settings. What the curves draw."
    return Table(DRAWN, EVERY_POINT, columns, tuple(rows), note, folded=True)


def _curves(name: str, results: Sequence[LocalResult]) -> Iterator[Drawing]:
    return curves(CURVES[name](results), name)


DRAWINGS: dict[str, Callable[[Sequence[LocalResult]], Drawing | Iterator[Drawing] | None]] = {
    **{name: partial(_curves, name) for name in CURVES},
    "placements": placements_drawing,
    "distances": distances,
    "positions": positions_drawing,
}
