"""Curves and maps of localized damage."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes

from ...core import format_radius
from ...results.local import HEADLINE, Spot, known_mean
from ..kit.drawing import INK, STYLE, Drawing, canvas, strokes
from ..study.figures import PERCENT

LOST = "Share of the clean class-mean accuracy that is lost"
DOTS: dict[str, Any] = {"marker": "o", "markersize": 4}
MOST = 12  # lines that can be told apart
RING = re.compile(r"distance-(\d+)-(\d+|inf)")


def drawings(spots: Sequence[Spot]) -> list[Drawing]:
    """Every figure that the results have data for."""
    with mpl.rc_context(STYLE):
        return list(_drawings(spots))


def _drawings(spots: Sequence[Spot]) -> Iterator[Drawing]:
    patches = [spot for spot in spots if not math.isnan(spot.ratio) and spot.goal == "any"]
    yield from curves(patches, "severity")
    yield from curves(patches, "ratio")
    most = max((spot.number for spot in spots), default=0)
    yield from curves([spot for spot in spots if spot.together and spot.number == most], "attacks")
    final = [spot for spot in spots if spot.final]
    for name in ("steps", "side", "eps"):
        yield from curves([spot for spot in final if not math.isnan(spot.side)], name)
    yield from places([spot for spot in final if spot.position])
    ringed = [spot for spot in spots if any(map(RING.fullmatch, spot.perturbed)) and (spot.final or not spot.number)]
    if ringed:
        yield distances(ringed)
    slid = [spot for spot in spots if spot.corner]
    if len({spot.corner for spot in slid}) > 1:
        yield positions(slid)


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
    "place": lambda spot: spot.position,
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
            found = sorted({along.value(spot) for spot in members})
            values = [known_mean(s.rce(HEADLINE, zone) for s in members if along.value(s) == place) for place in found]
            axis.plot(found, values, **stroke, **DOTS, label=line)
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
    told = [number for number in range(len(traits)) if number == 0 or len({key[number] for key in kept}) > 1]
    told = told if len(kept) <= MOST else [0]
    lines: dict[str, list[Spot]] = {}
    for key, members in kept.items():
        lines.setdefault(" ".join(filter(None, (key[number] for number in told))), []).extend(members)
    return lines


def places(spots: Sequence[Spot]) -> Iterator[Drawing]:
    """RCE outside of a box for each place of it (arXiv:2504.01632, figure 9)."""
    lines = _lines(spots, "place", lambda spot: spot.position)
    if not lines:
        return
    figure, (axis,) = canvas(1.3 + 0.3 * len(lines))
    values = {
        place: [known_mean(_lost(spot) for spot in members if spot.position == place) for members in lines.values()]
        for place in dict.fromkeys(spot.position for members in lines.values() for spot in members)
    }
    for row, ends in enumerate(zip(*values.values(), strict=True)):
        axis.plot(ends, [row] * len(ends), color=INK, linewidth=0.8, zorder=1)
    for place, stroke in zip(values, strokes(len(values)), strict=True):
        axis.scatter(values[place], range(len(lines)), color=stroke["color"], zorder=2, label=place)
    axis.set_yticks(range(len(lines)), list(lines))
    axis.axvline(0, color=INK, linewidth=0.5)  # or small differences would look large
    axis.set(xlabel="RCE outside, %", ylim=(len(lines) - 0.5, -0.5))
    axis.xaxis.set_major_formatter(PERCENT)
    figure.legend(loc="outside upper right", ncols=len(values))
    caption = f"{LOST} outside of the attacked box, for each place that it lay in; mean over the other settings."
    yield Drawing("places", "Centre and corner", caption, figure)


def _lost(spot: Spot) -> float:
    return spot.rce(HEADLINE, "outside")


def distances(spots: Sequence[Spot]) -> Drawing:
    """RCE in rings around the region, a line for each model and what was done to it."""
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
    found = RING.fullmatch(ring)
    return int(found[1]) if found else -1


def positions(spots: Sequence[Spot]) -> Drawing:
    """RCE outside of one patch, for every place of the patch."""
    models = list(dict.fromkeys(spot.model for spot in spots))
    figure, axes = canvas(3.0, len(models))
    found: dict[tuple[str, tuple[int, int] | None], list[float]] = {}
    for spot in spots:
        found.setdefault((spot.model, spot.corner), []).append(_lost(spot))
    values = {place: known_mean(losses) for place, losses in found.items()}
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
