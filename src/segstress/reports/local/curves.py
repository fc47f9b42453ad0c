"""RCE along one setting: a line for each model and perturbation that was tried at two values of it or more."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ...core import format_radius
from ...metrics.intervals import Interval
from ...results.local import HEADLINE, LocalResult, mean_rce
from ..kit.drawing import INK, PERCENT, Drawing, canvas, strokes

BAND = "Bands: 95 % intervals over images, cut where they would leave the figure."
ROOM = 0.5  # of the height of the lines, that bands may add above and below
LOST = "Share of the clean class-mean accuracy that is lost"
DRAWN, EVERY_POINT = "drawn", "Every point of the curves"  # the table of them, and its title
DOTS: dict[str, Any] = {"marker": "o", "markersize": 4}
MOST = 12  # lines that can be told apart
CLEAR, BANDS = 4, 6  # bands that can; that are drawn all the same


@dataclass(frozen=True)
class Along:
    """A setting that results are drawn against."""

    value: Callable[[LocalResult], float]
    label: str
    title: str
    zones: tuple[str, ...] = ("outside",)  # of attacks on a region only what is outside of it is wanted
    tick: Callable[[float], str] = "{:g}".format


BOTH = ("inside", "outside")
ALONG = {
    "severity": Along(lambda result: result.severity, "severity", "Stronger damage", BOTH),
    "ratio": Along(lambda result: result.ratio, "share of the patches damaged", "More of the image", BOTH),
    "attacks": Along(lambda result: result.together, "attacks together", "More attacks"),
    "steps": Along(lambda result: result.steps, "steps of each attack", "Longer attacks"),
    "side": Along(lambda result: result.side, "side of the attacked square, pixels", "Larger squares"),
    "eps": Along(lambda result: result.severity, "radius of the attack", "Larger changes", tick=format_radius),
}
# What a line stands for, beside the model; each is left out of the figure that is drawn against it.
TRAITS: dict[str, Callable[[LocalResult], str]] = {
    "data": lambda result: result.data,
    "what": lambda result: result.what,
    "severity": lambda result: "" if result.steps else result.strength,
    "eps": lambda result: f"eps {result.strength}" if result.steps else "",
    "steps": lambda result: f"{result.steps} steps" if result.steps else "",
    "ratio": lambda result: "" if math.isnan(result.ratio) else f"ratio {result.ratio:g}",
    "side": lambda result: "" if math.isnan(result.side) else f"{result.side:g} px",
    "position": lambda result: result.position,
    "region": lambda result: result.region if result.shape and not result.position and math.isnan(result.ratio) else "",
}


def curves(results: Sequence[LocalResult], name: str) -> Iterator[Drawing]:
    """Draw RCE of class-mean accuracy along one setting, a line for each model and perturbation tried at two."""
    along = ALONG[name]
    lines = lines_of(results, name, along.value)
    if not lines:
        return
    rows = _by_model(lines)
    shown = max(map(len, rows.values()))
    figure, axes = canvas(1.0 + 1.8 * len(rows) + 0.1 * shown, len(along.zones), len(rows))
    ticks = sorted({along.value(result) for members in lines.values() for result in members})
    for axis, (model, zone) in zip(axes, product(rows, along.zones), strict=True):
        banded(axis, {line: points_of(members, along, zone) for line, members in rows[model].items()})
        axis.set(title=" ".join(filter(None, (model, zone))), ylabel="RCE, %" if zone == along.zones[0] else "")
        axis.set_xticks(ticks, [along.tick(tick) for tick in ticks])
        rce_axis(axis)
    for number, axis in enumerate(axes[-len(along.zones) :]):
        axis.set_xlabel(along.label)
        fit_view(axes[number :: len(along.zones)])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    caption = f"{LOST}, on the same region, mean over a line's other settings. Below zero: a gain. {band(shown)}"
    yield Drawing(name, along.title, caption, figure)


def _by_model(lines: Mapping[str, list[LocalResult]]) -> dict[str, dict[str, list[LocalResult]]]:
    """Sort lines by their model, one row of panels for each, where one panel would hold too many bands."""
    models = list(dict.fromkeys(members[0].model for members in lines.values()))
    by_model = {
        model: {line.removeprefix(f"{model} "): members for line, members in lines.items() if members[0].model == model}
        for model in models
    }
    alike = len({tuple(own) for own in by_model.values()}) == 1  # or one legend would not do
    return by_model if len(lines) > CLEAR and len(models) > 1 and alike else {"": dict(lines)}


def points_of(members: Sequence[LocalResult], along: Along, zone: str) -> dict[float, Interval]:
    """Return what was lost at each value of the setting."""
    steps = sorted({along.value(result) for result in members})
    return {step: mean_rce([m for m in members if along.value(m) == step], HEADLINE, zone) for step in steps}


def lines_of(
    results: Sequence[LocalResult], name: str, along: Callable[[LocalResult], Any]
) -> dict[str, list[LocalResult]]:
    """Return the results of each line that has two points or more, named by what tells it from the others.

    Where there would be too many to tell apart, each model has one line for all that was done to it.
    """
    traits = [lambda result: result.model, *(trait for key, trait in TRAITS.items() if key != name)]
    groups: dict[tuple[str, ...], list[LocalResult]] = {}
    for result in results:
        groups.setdefault(tuple(trait(result) for trait in traits), []).append(result)
    kept = {key: members for key, members in groups.items() if len(set(map(along, members))) > 1}
    differing = [number for number in range(len(traits)) if number == 0 or len({key[number] for key in kept}) > 1]
    named = differing if len(kept) <= MOST else [0]
    lines: dict[str, list[LocalResult]] = {}
    for key, members in kept.items():
        lines.setdefault(" ".join(filter(None, (key[number] for number in named))), []).extend(members)
    return lines


def banded(axis: Axes, lines: Mapping[str, Mapping[Any, Interval]]) -> None:
    """Draw lines with the bands of their intervals."""
    for (line, points), stroke in zip(lines.items(), strokes(len(lines)), strict=True):
        axis.plot(list(points), [point.value for point in points.values()], **stroke, **DOTS, label=line)
    for points, stroke in zip(lines.values(), strokes(len(lines)), strict=True) if len(lines) <= BANDS else ():
        low, high = ([getattr(point, side) for point in points.values()] for side in ("low", "high"))
        axis.fill_between(list(points), low, high, color=stroke["color"], alpha=0.13, linewidth=0)


def fit_view(axes: Sequence[Axes]) -> None:
    """Let panels that share an axis show all their lines, and of the bands what has room."""
    values = np.concatenate([line.get_ydata() for axis in axes for line in axis.get_lines()])
    low, high = (float(end(values[np.isfinite(values)], initial=0)) for end in (np.min, np.max))
    room = ROOM * ((high - low) or 0.01)
    whole = axes[0].get_ylim()
    axes[0].set_ylim(max(low - room, whole[0]), min(high + room, whole[1]))


def band(lines: int) -> str:
    """Say what the bands are, or where the intervals are to be found."""
    return BAND if lines <= BANDS else f"Intervals: '{EVERY_POINT}' on this page; their bands would hide each other."


def rce_axis(axis: Axes) -> None:
    """Show percent, and a line where nothing is lost."""
    axis.yaxis.set_major_formatter(PERCENT)
    axis.axhline(0, color=INK, linewidth=0.5)
