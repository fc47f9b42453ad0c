"""Curves and maps of localized damage."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes

from .drawing import INK, STYLE, Drawing, canvas
from .figures import PERCENT
from .spatial import HEADLINE, Spot, known_mean

COLOURS = ("#3572b0", "#c9512f", "#2a8c5a", "#8a5fb0", "#b08a1e", "#5d6672")  # told apart by colour-blind readers
RING = re.compile(r"distance-(\d+)-(\d+|inf)")


def drawings(spots: Sequence[Spot]) -> list[Drawing]:
    """Every figure that the results have data for."""
    with mpl.rc_context(STYLE):
        return list(_drawings(spots))


def _drawings(spots: Sequence[Spot]) -> Iterator[Drawing]:
    patches = [spot for spot in spots if not math.isnan(spot.ratio) and spot.goal == "any"]
    if len({spot.severity for spot in patches}) > 1:
        yield curves(patches, "severity", lambda spot: spot.severity, "severity", "Stronger damage")
    if len({spot.ratio for spot in patches}) > 1:
        yield curves(patches, "ratio", lambda spot: spot.ratio, "share of the patches damaged", "More of the image")
    together = [spot for spot in spots if spot.goal.startswith("cumulative-")]
    if len({spot.goal for spot in together}) > 1:
        yield curves(together, "attacks", _attacks, "attacks together", "More attacks", zones=("outside",))
    if len({spot.steps for spot in together}) > 1:
        most = max(map(_attacks, together))
        last = [spot for spot in together if _attacks(spot) == most]
        yield curves(last, "steps", lambda spot: spot.steps, "steps of each attack", "Longer attacks", ("outside",))
    if any(RING.fullmatch(zone) for spot in spots for zone in spot.perturbed):
        yield distances(spots)
    if len({spot.corner for spot in spots if spot.corner}) > 1:
        yield positions(spots)


def _attacks(spot: Spot) -> int:
    return int(spot.goal.partition("-")[2])


def curves(
    spots: Sequence[Spot],
    name: str,
    along: Callable[[Spot], float],
    label: str,
    title: str,
    zones: Sequence[str] = ("inside", "outside"),
) -> Drawing:
    """RCE of class-mean accuracy along one setting, a line for each model and perturbation."""
    lines = _lines(spots, name)
    figure, axes = canvas(2.6 + 0.1 * len(lines), len(zones))
    for axis, zone in zip(axes, zones, strict=True):
        for number, (line, members) in enumerate(lines.items()):
            places = sorted({along(spot) for spot in members})
            values = [known_mean(s.rce(HEADLINE, zone) for s in members if along(s) == place) for place in places]
            axis.plot(places, values, **_stroke(number), label=line)
        axis.set(title=zone, xlabel=label)
        axis.set_xticks(sorted({along(spot) for spot in spots}))
        _rce_axis(axis)
    axes[0].set_ylabel("RCE, %")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    caption = "Share of the clean class-mean accuracy that is lost, on the same region. Below zero: better than clean."
    return Drawing(name, title, caption, figure)


def _lines(spots: Sequence[Spot], along: str) -> dict[str, list[Spot]]:
    """The spots of each line, named by all that differs but is not the axis."""
    parts: dict[str, Callable[[Spot], str]] = {
        "model": lambda spot: spot.model,
        "what": lambda spot: spot.what,
        "severity": lambda spot: f"{spot.severity:.4g}",
        "steps": lambda spot: f"{spot.steps} steps" if spot.steps else "",
        "ratio": lambda spot: "" if math.isnan(spot.ratio) else f"ratio {spot.ratio:g}",
        "region": lambda spot: spot.region if math.isnan(spot.ratio) and not spot.corner else "",
    }
    differ = [part for key, part in parts.items() if key != along and len({part(spot) for spot in spots}) > 1]
    lines: dict[str, list[Spot]] = {}
    for spot in spots:
        lines.setdefault(" ".join(part(spot) for part in differ) or spot.model, []).append(spot)
    return lines


def distances(spots: Sequence[Spot]) -> Drawing:
    """RCE in rings around the region."""
    ringed = [spot for spot in spots if any(RING.fullmatch(zone) for zone in spot.perturbed)]
    lines = _lines(ringed, "distance")
    figure, (axis,) = canvas(2.6 + 0.1 * len(lines))
    rings = sorted({zone for spot in ringed for zone in spot.perturbed if RING.fullmatch(zone)}, key=_near)
    for number, (line, members) in enumerate(lines.items()):
        values = [known_mean(spot.rce("accuracy", ring) for spot in members) for ring in rings]
        axis.plot(rings, values, **_stroke(number), label=line)
    axis.set_xticks(range(len(rings)), [ring.removeprefix("distance-").replace("-inf", " and more") for ring in rings])
    axis.set(xlabel="pixels away from the region", ylabel="RCE, %")
    _rce_axis(axis)
    figure.legend(loc="outside lower center", ncols=2)
    caption = "Share of the clean accuracy that is lost, ring by ring: how far the damage spreads."
    return Drawing("distances", "Further away", caption, figure)


def _near(ring: str) -> int:
    found = RING.fullmatch(ring)
    return int(found[1]) if found else -1


def positions(spots: Sequence[Spot]) -> Drawing:
    """RCE outside of one patch, for every place of the patch."""
    placed = [(spot, spot.corner) for spot in spots if spot.corner]
    models = list(dict.fromkeys(spot.model for spot, _ in placed))
    figure, axes = canvas(3.0, len(models))
    values = {(spot.model, *corner): spot.rce(HEADLINE, "outside") for spot, corner in placed}
    rows, columns = (sorted({corner[axis] for _, corner in placed}) for axis in (0, 1))
    highest = max((abs(value) for value in values.values() if not math.isnan(value)), default=1.0)
    for axis, model in zip(axes, models, strict=True):
        grid = [[values.get((model, row, column), math.nan) for column in columns] for row in rows]
        image = axis.imshow(grid, cmap="RdBu_r", vmin=-highest, vmax=highest)
        axis.set(title=model, xlabel="left edge, pixels", ylabel="top edge, pixels")
        axis.set_xticks(range(len(columns)), [str(column) for column in columns])
        axis.set_yticks(range(len(rows)), [str(row) for row in rows])
    figure.colorbar(image, ax=axes, label="RCE outside, %", format=PERCENT)
    caption = "One patch slid over the image: the share of the clean class-mean accuracy lost outside of it."
    return Drawing("positions", "Where it hurts most", caption, figure)


def _stroke(number: int) -> dict[str, Any]:
    """Lines that differ in colour, then in dashes."""
    dashes = ("-", "--", ":", "-.")[number // len(COLOURS) % 4]
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": dashes, "marker": "o", "markersize": 4}


def _rce_axis(axis: Axes) -> None:
    axis.yaxis.set_major_formatter(PERCENT)
    axis.axhline(0, color=INK, linewidth=0.5)
