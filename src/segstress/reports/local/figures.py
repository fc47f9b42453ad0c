"""The figures of localized damage: curves, and where and how far away it hurts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from ...results.local import HEADLINE, Spot, known_mean
from ..kit.drawing import INK, PERCENT, Drawing, canvas, strokes
from .curves import DOTS, LOST, curves, lines_of, rce_axis

RING = re.compile(r"distance-(\d+)-(\d+|inf)")


def placements(spots: Sequence[Spot]) -> Iterator[Drawing]:
    """RCE outside of a box for each position of it (arXiv:2504.01632, figure 9)."""
    lines = lines_of([spot for spot in spots if spot.final and spot.position], "position", lambda spot: spot.position)
    if not lines:
        return
    figure, (axis,) = canvas(1.3 + 0.3 * len(lines))
    values = {
        position: [
            known_mean(_lost(spot) for spot in members if spot.position == position) for members in lines.values()
        ]
        for position in dict.fromkeys(spot.position for members in lines.values() for spot in members)
    }
    for row, ends in enumerate(zip(*values.values(), strict=True)):
        axis.plot(ends, [row] * len(ends), color=INK, linewidth=0.8, zorder=1)
    for position, stroke in zip(values, strokes(len(values)), strict=True):
        axis.scatter(values[position], range(len(lines)), color=stroke["color"], zorder=2, label=position)
    axis.set_yticks(range(len(lines)), list(lines))
    axis.axvline(0, color=INK, linewidth=0.5)  # or small differences would look large
    axis.set(xlabel="RCE outside, %", ylim=(len(lines) - 0.5, -0.5))
    axis.xaxis.set_major_formatter(PERCENT)
    figure.legend(loc="outside upper right", ncols=len(values))
    caption = f"{LOST} outside of the attacked box, for each position of it; mean over the other settings."
    yield Drawing("placements", "Centre and corner", caption, figure)


def _lost(spot: Spot) -> float:
    return spot.rce(HEADLINE, "outside")


def distances(spots: Sequence[Spot]) -> Drawing | None:
    """RCE in rings around the region, a line for each model and what was done to it."""
    spots = [spot for spot in spots if any(map(RING.fullmatch, spot.perturbed)) and (spot.final or not spot.number)]
    if not spots:
        return None
    lines: dict[str, list[Spot]] = {}
    for spot in spots:
        lines.setdefault(f"{spot.model} {spot.what}", []).append(spot)
    figure, (axis,) = canvas(2.6 + 0.1 * len(lines))
    rings = sorted({zone for spot in spots for zone in spot.perturbed if RING.fullmatch(zone)}, key=_near)
    for (line, members), stroke in zip(lines.items(), strokes(len(lines)), strict=True):
        values = [known_mean(spot.rce("accuracy", ring) for spot in members) for ring in rings]
        axis.plot(rings, values, **stroke, **DOTS, label=line)
    axis.set_xticks(range(len(rings)), [ring.removeprefix("distance-").replace("-inf", " and more") for ring in rings])
    axis.set(xlabel="pixels away from the region", ylabel="RCE, %")
    rce_axis(axis)
    figure.legend(loc="outside lower center", ncols=2)
    caption = (
        "Share of the clean accuracy that is lost, ring by ring: how far the damage spreads. Mean over severities and"
        " regions; of several attacks all together."
    )
    return Drawing("distances", "Further away", caption, figure)


def _near(ring: str) -> int:
    bounds = RING.fullmatch(ring)
    return int(bounds[1]) if bounds else -1


def positions(spots: Sequence[Spot]) -> Drawing | None:
    """RCE outside of one patch, for every position of the patch."""
    spots = [spot for spot in spots if spot.corner]
    if len({spot.corner for spot in spots}) < 2:
        return None
    models = list(dict.fromkeys(spot.model for spot in spots))
    figure, axes = canvas(3.0, len(models))
    losses: dict[tuple[str, tuple[int, int] | None], list[float]] = {}
    for spot in spots:
        losses.setdefault((spot.model, spot.corner), []).append(_lost(spot))
    values = {cell: known_mean(several) for cell, several in losses.items()}
    rows, columns = (sorted({spot.corner[axis] for spot in spots if spot.corner}) for axis in (0, 1))
    highest = max((abs(value) for value in values.values() if not math.isnan(value)), default=1.0)
    for axis, model in zip(axes, models, strict=True):
        grid = [[values.get((model, (row, column)), math.nan) for column in columns] for row in rows]
        image = axis.imshow(grid, cmap="RdBu_r", vmin=-highest, vmax=highest)
        axis.set(title=model, xlabel="left edge, pixels", ylabel="top edge, pixels")
        axis.set_xticks(range(len(columns)), [str(column) for column in columns])
        axis.set_yticks(range(len(rows)), [str(row) for row in rows])
    figure.colorbar(image, ax=axes, label="RCE outside, %", format=PERCENT)
    caption = f"{LOST} outside of one patch, which was slid over the image; mean over what was done to it."
    return Drawing("positions", "Where it hurts most", caption, figure)


def _patched(spots: Sequence[Spot]) -> list[Spot]:
    return [spot for spot in spots if not math.isnan(spot.ratio) and spot.goal == "any"]


def _most_attacks(spots: Sequence[Spot]) -> list[Spot]:
    most = max((spot.number for spot in spots), default=0)
    return [spot for spot in spots if spot.together and spot.number == most]


def _final_squares(spots: Sequence[Spot]) -> list[Spot]:
    return [spot for spot in spots if spot.final and not math.isnan(spot.side)]


DRAWINGS: dict[str, Callable[[Sequence[Spot]], Drawing | Iterator[Drawing] | None]] = {
    "severity": lambda spots: curves(_patched(spots), "severity"),
    "ratio": lambda spots: curves(_patched(spots), "ratio"),
    "attacks": lambda spots: curves(_most_attacks(spots), "attacks"),
    "steps": lambda spots: curves(_final_squares(spots), "steps"),
    "side": lambda spots: curves(_final_squares(spots), "side"),
    "eps": lambda spots: curves(_final_squares(spots), "eps"),
    "placements": placements,
    "distances": distances,
    "positions": positions,
}
