"""Curves and maps of localized damage."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from ...core import format_radius
from ...results.local import HEADLINE, Spot, known_mean
from ..kit.drawing import INK, PERCENT, Drawing, canvas, strokes

LOST = "Share of the clean class-mean accuracy that is lost"
DOTS: dict[str, Any] = {"marker": "o", "markersize": 4}
MOST = 12  # lines that can be told apart
RING = re.compile(r"distance-(\d+)-(\d+|inf)")


@dataclass(frozen=True)
class Along:
    """A setting that results are drawn against."""

    value: Callable[[Spot], float]
    label: str
    title: str
    zones: tuple[str, ...] = ("outside",)  # of attacks on a region only what is outside of it is wanted
    tick: Callable[[float], str] = "{:g}".format


BOTH = ("inside", "outside")
ALONG = {
    "severity": Along(lambda spot: spot.severity, "severity", "Stronger damage", BOTH),
    "ratio": Along(lambda spot: spot.ratio, "share of the patches damaged", "More of the image", BOTH),
    "attacks": Along(lambda spot: spot.together, "attacks together", "More attacks"),
    "steps": Along(lambda spot: spot.steps, "steps of each attack", "Longer attacks"),
    "side": Along(lambda spot: spot.side, "side of the attacked square, pixels", "Larger squares"),
    "eps": Along(lambda spot: spot.severity, "radius of the attack", "Larger changes", tick=format_radius),
}
# What a line stands for, beside the model; each is left out of the figure that is drawn against it.
TRAITS: dict[str, Callable[[Spot], str]] = {
    "data": lambda spot: spot.data,
    "what": lambda spot: spot.what,
    "severity": lambda spot: "" if spot.steps else spot.strength,
    "eps": lambda spot: f"eps {spot.strength}" if spot.steps else "",
    "steps": lambda spot: f"{spot.steps} steps" if spot.steps else "",
    "ratio": lambda spot: "" if math.isnan(spot.ratio) else f"ratio {spot.ratio:g}",
    "side": lambda spot: "" if math.isnan(spot.side) else f"{spot.side:g} px",
    "position": lambda spot: spot.position,
    "region": lambda spot: spot.region if spot.place and not spot.position and math.isnan(spot.ratio) else "",
}


def curves(spots: Sequence[Spot], name: str) -> Iterator[Drawing]:
    """RCE of class-mean accuracy along one setting, a line for each model and perturbation that was tried at two."""
    along = ALONG[name]
    lines = _lines(spots, name, along.value)
    if not lines:
        return
    figure, axes = canvas(2.6 + 0.1 * len(lines), len(along.zones))
    for axis, zone in zip(axes, along.zones, strict=True):
        for (line, members), stroke in zip(lines.items(), strokes(len(lines)), strict=True):
            steps = sorted({along.value(spot) for spot in members})
            values = [known_mean(s.rce(HEADLINE, zone) for s in members if along.value(s) == step) for step in steps]
            axis.plot(steps, values, **stroke, **DOTS, label=line)
        ticks = sorted({along.value(spot) for members in lines.values() for spot in members})
        axis.set(title=zone, xlabel=along.label)
        axis.set_xticks(ticks, [along.tick(tick) for tick in ticks])
        _rce_axis(axis)
    axes[0].set_ylabel("RCE, %")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    caption = f"{LOST}, on the same region, mean over all other settings that a line holds. Below zero: a gain."
    yield Drawing(name, along.title, caption, figure)


def _lines(spots: Sequence[Spot], name: str, along: Callable[[Spot], Any]) -> dict[str, list[Spot]]:
    """The spots of each line that has two points or more, named by what tells it from the others.

    Where there would be too many to tell apart, each model has one line for all that was done to it.
    """
    traits = [lambda spot: spot.model, *(trait for key, trait in TRAITS.items() if key != name)]
    groups: dict[tuple[str, ...], list[Spot]] = {}
    for spot in spots:
        groups.setdefault(tuple(trait(spot) for trait in traits), []).append(spot)
    kept = {key: members for key, members in groups.items() if len(set(map(along, members))) > 1}
    differing = [number for number in range(len(traits)) if number == 0 or len({key[number] for key in kept}) > 1]
    named = differing if len(kept) <= MOST else [0]
    lines: dict[str, list[Spot]] = {}
    for key, members in kept.items():
        lines.setdefault(" ".join(filter(None, (key[number] for number in named))), []).extend(members)
    return lines


def placements(spots: Sequence[Spot]) -> Iterator[Drawing]:
    """RCE outside of a box for each position of it (arXiv:2504.01632, figure 9)."""
    lines = _lines([spot for spot in spots if spot.final and spot.position], "position", lambda spot: spot.position)
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
    _rce_axis(axis)
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


def _rce_axis(axis: Axes) -> None:
    axis.yaxis.set_major_formatter(PERCENT)
    axis.axhline(0, color=INK, linewidth=0.5)


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
