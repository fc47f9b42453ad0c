"""RCE along one setting: a line for each model and perturbation that was tried at two values of it or more."""

from __future__ import annotations

import math
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
    lines = lines_of(spots, name, along.value)
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
        rce_axis(axis)
    axes[0].set_ylabel("RCE, %")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    caption = f"{LOST}, on the same region, mean over all other settings that a line holds. Below zero: a gain."
    yield Drawing(name, along.title, caption, figure)


def lines_of(spots: Sequence[Spot], name: str, along: Callable[[Spot], Any]) -> dict[str, list[Spot]]:
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


def rce_axis(axis: Axes) -> None:
    """Show percent, and a line where nothing is lost."""
    axis.yaxis.set_major_formatter(PERCENT)
    axis.axhline(0, color=INK, linewidth=0.5)
