"""Boxes at the centre and in corners: where an attack does more harm elsewhere, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ...metrics.intervals import Interval, interval_of
from ...results.local import HEADLINE, UNKNOWN, LocalResult, mean_rce, of_same_images
from ..kit.drawing import INK, PERCENT, Drawing, canvas, strokes
from ..kit.table import Cell, Column, Table
from .curves import LOST, lines_of

ANY = (-math.inf, math.inf)  # where a difference of relative losses lies


def placements(results: Sequence[LocalResult]) -> Table:
    """Compare RCE outside of a box at every two positions of it, on the same images (arXiv:2504.01632, figure 9)."""
    columns = (
        Column("line", "What was done"),
        Column("first", "First position"),
        Column("second", "Second position"),
        Column("rce_first", "RCE outside, first", "interval"),
        Column("rce_second", "RCE outside, second", "interval"),
        Column("difference", "First minus second", "interval"),
    )
    rows: list[tuple[Cell, ...]] = []
    for line, members in _lines(results).items():
        at: dict[str, list[LocalResult]] = {}
        for result in members:
            at.setdefault(result.position, []).append(result)
        for first, second in combinations(at, 2):
            both = (mean_rce(at[position], HEADLINE, "outside") for position in (first, second))
            rows.append((line, first, second, *both, difference(at[first], at[second])))
    note = (
        "RCE of class-mean accuracy outside of the attacked box; mean over the other settings. The difference has the"
        " interval of a paired one: both positions are weighed by the same images."
    )
    return Table("placements", "Centre and corner", columns, tuple(rows), note)


def difference(first: Sequence[LocalResult], second: Sequence[LocalResult]) -> Interval:
    """Return by how much more some results lose outside than others; no bounds where their images are not the same."""
    value = mean_rce(first, HEADLINE, "outside").value - mean_rce(second, HEADLINE, "outside").value
    known = [[result for result in results if not math.isnan(_rce(result))] for results in (first, second)]
    if math.isnan(value) or not of_same_images([*known[0], *known[1]]):
        return Interval(value, *UNKNOWN)

    def apart(weights: np.ndarray) -> np.ndarray:
        lost = (np.mean([result.lost(HEADLINE, "outside", weights) for result in results], axis=0) for results in known)
        gap: np.ndarray = next(lost) - next(lost)
        return gap

    return interval_of(apart, len(known[0][0].clean["outside"]), within=ANY)


def _rce(result: LocalResult) -> float:
    return result.rce(HEADLINE, "outside")


def _lines(results: Sequence[LocalResult]) -> Mapping[str, list[LocalResult]]:
    boxes = [result for result in results if result.final and result.position]
    return lines_of(boxes, "position", lambda result: result.position)


def placements_drawing(results: Sequence[LocalResult]) -> Iterator[Drawing]:
    """Draw RCE outside of a box for each position of it (arXiv:2504.01632, figure 9)."""
    lines = _lines(results)
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
        bounds = np.abs(across[:, 1:] - across[:, :1]).T
        reach = np.where(np.isfinite(bounds), bounds, 0)  # one image alone bounds nothing
        axis.errorbar(across[:, 0], rows, xerr=reach, fmt="o", ms=5, color=stroke["color"], label=position)
    axis.set_yticks(range(len(lines)), list(lines))
    axis.axvline(0, color=INK, linewidth=0.5)  # or small differences would look large
    axis.set(xlabel="RCE outside, %", ylim=(len(lines) - 0.5, -0.5))
    axis.xaxis.set_major_formatter(PERCENT)
    figure.legend(loc="outside upper right", ncols=len(values))
    caption = (
        f"{LOST} outside of the attacked box, for each position of it; mean over the other settings. Bars: 95 %"
        " intervals over images; whether two positions differ, the table says, since they are of the same images."
    )
    yield Drawing("placements", "Centre and corner", caption, figure)
