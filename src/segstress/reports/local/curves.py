"""RCE along one setting: a line for each model and perturbation that was tried at two values of it or more."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from ...core import format_radius
from ...results.local import HEADLINE, LocalResult, known_mean
from ..kit.drawing import INK, PERCENT, Drawing, canvas, strokes

LOST = "Share of the clean class-mean accuracy that is lost"
DOTS: dict[str, Any] = {"marker": "o", "markersize": 4}
MOST = 12  # lines that can be told apart


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
    "region": lambda result: result.region if result.place and not result.position and math.isnan(result.ratio) else "",
}


def curves(results: Sequence[LocalResult], name: str) -> Iterator[Drawing]:
    """Draw RCE of class-mean accuracy along one setting, a line for each model and perturbation tried at two."""
    along = ALONG[name]
    lines = lines_of(results, name, along.value)
    if not lines:
        return
    figure, axes = canvas(2.6 + 0.1 * len(lines), len(along.zones))
    for axis, zone in zip(axes, along.zones, strict=True):
        for (line, members), stroke in zip(lines.items(), strokes(len(lines)), strict=True):
            steps = sorted({along.value(result) for result in members})
            values = [known_mean(s.rce(HEADLINE, zone) for s in members if along.value(s) == step) for step in steps]
            axis.plot(steps, values, **stroke, **DOTS, label=line)
        ticks = sorted({along.value(result) for members in lines.values() for result in members})
        axis.set(title=zone, xlabel=along.label)
        axis.set_xticks(ticks, [along.tick(tick) for tick in ticks])
        rce_axis(axis)
    axes[0].set_ylabel("RCE, %")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    caption = f"{LOST}, on the same region, mean over all other settings that a line holds. Below zero: a gain."
    yield Drawing(name, along.title, caption, figure)


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


def rce_axis(axis: Axes) -> None:
    """Show percent, and a line where nothing is lost."""
    axis.yaxis.set_major_formatter(PERCENT)
    axis.axhline(0, color=INK, linewidth=0.5)
