"""How many images are broken against the size of a delta: a curve for each attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ...results.minimal import MinimalResult
from ..kit.drawing import INK, Drawing, canvas, strokes
from ..kit.naming import in_lines, slugs
from .tables import BEST, by_setting, unit

BEND = 2  # in 1/255: the axis is linear up to there, then logarithmic
TICKS = (0, 0.5, 1, 1.5, 2, 4, 8, 16, 32, 64, 128, 255)  # of such an axis
CDF = ("99%", "90%")  # thresholds that stand side by side

Attacks = Mapping[str, list[MinimalResult]]


def curves(results: Sequence[MinimalResult]) -> list[Drawing]:
    """Draw the share of images broken for each model, dataset and norm (arXiv:2206.07179 draws one minus it)."""
    settings = by_setting(results)
    groups = list(dict.fromkeys(setting[:3] for setting in settings))
    drawings = []
    for group, name in zip(groups, slugs([" ".join(("minimal", *group)) for group in groups]), strict=True):
        shares = {setting[3]: attacks for setting, attacks in settings.items() if setting[:3] == group}
        drawings.append(_broken(name, group, {share: shares[share] for share in CDF if share in shares} or shares))
    return drawings


def _broken(name: str, group: tuple[str, ...], shares: Mapping[str, Attacks]) -> Drawing:
    """Draw the cumulative distribution, thresholds side by side (after arXiv:2407.09150, figures 15 and 16)."""
    model, data, norm = group
    figure, axes = canvas(3.2, len(shares))
    for axis, (threshold, attacks) in zip(axes, shares.items(), strict=True):
        _draw(axis, attacks, norm)
        axis.set(title=f"{model} on {data}, {threshold} of pixels")
    axes[0].set(ylabel="images broken, %")
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    caption = (
        "Share of images broken by a delta of at most that size: the higher the curve, the stronger the attack. Each"
        " threshold shows runs aimed at it, unless a name says that it lay on the way to another; so an easier goal may"
        " look harder, where its search was less lucky."
    )
    return Drawing(f"{name}-cdf", f"Images broken: {model}", caption, figure)


def _draw(axis: Axes, attacks: Attacks, norm: str) -> None:
    """Draw a step at every success, and a level line from the last one to the edge."""
    scale = unit(norm)
    edge = 1.3 * max(
        [scale * result.size for members in attacks.values() for result in members if result.success] or [BEND]
    )
    for (attack, members), stroke in zip(attacks.items(), strokes(len(attacks)), strict=True):
        sizes = np.sort([scale * result.size for result in members if result.success])
        broken = 100 * np.arange(len(sizes) + 1) / len(members)
        looks = {"color": INK, "linewidth": 3.0, "zorder": 1} if attack == BEST else stroke  # below what it equals
        results, heights = np.concatenate(([0], sizes, [edge])), np.append(broken, broken[-1])
        axis.step(results, heights, where="post", label=in_lines(attack), **looks)
    if norm == "linf":
        axis.set_xscale("symlog", linthresh=BEND, linscale=2)
        axis.xaxis.set_major_locator(FixedLocator([tick for tick in TICKS if tick <= edge]))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    word = {"linf": "linf size, 1/255", "l0": "pixels changed"}.get(norm, f"{norm} size")
    axis.set(xlim=(0, edge), ylim=(0, 101), xlabel=word)


DRAWINGS = {"curves": curves}
