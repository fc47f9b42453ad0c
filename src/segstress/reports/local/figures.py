"""The figures of localized damage: curves, and where and how far away it hurts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...results.local import HEADLINE, LocalResult, mean_rce
from ..kit.drawing import INK, PERCENT, Drawing, canvas, strokes
from .curves import LOST, band, banded, curves, fit_view, lines_of, rce_axis
from .positions import positions_drawing

RING = re.compile(r"distance-(\d+)-(\d+|inf)")


def placements(results: Sequence[LocalResult]) -> Iterator[Drawing]:
    """Draw RCE outside of a box for each position of it (arXiv:2504.01632, figure 9)."""
    lines = lines_of(
        [result for result in results if result.final and result.position], "position", lambda result: result.position
    )
    if not lines:
        return
    figure, (axis,) = canvas(1.3 + 0.3 * len(lines))
    values = {
        position: [
            mean_rce([result for result in members if result.position == position], HEADLINE, "outside")
            for members in lines.values()
        ]
        for position in dict.fromkeys(result.position for members in lines.values() for result in members)
    }
    for number, (position, stroke) in enumerate(zip(values, strokes(len(values)), strict=True)):
        across = np.array([(point.value, point.low, point.high) for point in values[position]]).reshape(-1, 3)
        rows = np.arange(len(lines)) + 0.5 * ((number + 0.5) / len(values) - 0.5)  # side by side within the line
        reach = np.nan_to_num(np.abs(across[:, 1:] - across[:, :1]).T)
        axis.errorbar(across[:, 0], rows, xerr=reach, fmt="o", ms=5, color=stroke["color"], label=position)
    axis.set_yticks(range(len(lines)), list(lines))
    axis.axvline(0, color=INK, linewidth=0.5)  # or small differences would look large
    axis.set(xlabel="RCE outside, %", ylim=(len(lines) - 0.5, -0.5))
    axis.xaxis.set_major_formatter(PERCENT)
    figure.legend(loc="outside upper right", ncols=len(values))
    caption = (
        f"{LOST} outside of the attacked box, for each position of it; mean over the other settings. Bars: 95 %"
        " intervals over images."
    )
    yield Drawing("placements", "Centre and corner", caption, figure)


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
    "placements": placements,
    "distances": distances,
    "positions": positions_drawing,
}
