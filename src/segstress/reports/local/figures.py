"""The figures of localized damage: curves, and where and how far away it hurts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from ...results.local import LocalResult, mean_rce
from ..kit.drawing import Drawing, canvas
from .curves import band, banded, curves, fit_view, rce_axis
from .placements import placements_drawing
from .positions import positions_drawing

RING = re.compile(r"distance-(\d+)-(\d+|inf)")


def distances(results: Sequence[LocalResult]) -> Drawing | None:
    """Draw RCE in rings around the region, a line for each model and what was done to it."""
    results = [
        result
        for result in results
        if any(map(RING.fullmatch, result.perturbed)) and (result.final or not result.number)
    ]
    if not results:
        return None
    lines: dict[str, list[LocalResult]] = {}
    for result in results:
        lines.setdefault(f"{result.model} {result.what}", []).append(result)
    figure, (axis,) = canvas(2.6 + 0.1 * len(lines))
    rings = sorted({zone for result in results for zone in result.perturbed if RING.fullmatch(zone)}, key=_near)
    banded(
        axis,
        {line: {ring: mean_rce(members, "accuracy", ring) for ring in rings} for line, members in lines.items()},
    )
    axis.set_xticks(range(len(rings)), [ring.removeprefix("distance-").replace("-inf", " and more") for ring in rings])
    axis.set(xlabel="pixels away from the region", ylabel="RCE, %")
    rce_axis(axis)
    fit_view([axis])
    figure.legend(loc="outside lower center", ncols=2)
    caption = (
        "Share of the clean accuracy that is lost, ring by ring: how far the damage spreads. Mean over severities and"
        f" regions; of several attacks all together. {band(len(lines))}"
    )
    return Drawing("distances", "Further away", caption, figure)


def _near(ring: str) -> int:
    bounds = RING.fullmatch(ring)
    return int(bounds[1]) if bounds else -1


def _patched(results: Sequence[LocalResult]) -> list[LocalResult]:
    return [result for result in results if not math.isnan(result.ratio) and result.goal == "any"]


def _most_attacks(results: Sequence[LocalResult]) -> list[LocalResult]:
    most = max((result.number for result in results), default=0)
    return [result for result in results if result.together and result.number == most]


def _final_squares(results: Sequence[LocalResult]) -> list[LocalResult]:
    return [result for result in results if result.final and not math.isnan(result.side)]


DRAWINGS: dict[str, Callable[[Sequence[LocalResult]], Drawing | Iterator[Drawing] | None]] = {
    "severity": lambda results: curves(_patched(results), "severity"),
    "ratio": lambda results: curves(_patched(results), "ratio"),
    "attacks": lambda results: curves(_most_attacks(results), "attacks"),
    "steps": lambda results: curves(_final_squares(results), "steps"),
    "side": lambda results: curves(_final_squares(results), "side"),
    "eps": lambda results: curves(_final_squares(results), "eps"),
    "placements": placements_drawing,
    "distances": distances,
    "positions": positions_drawing,
}
