"""The share of images that stand against a norm, as a curve for each attack."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter

from .drawing import INK, STYLE, Drawing, canvas, strokes
from .minimal import BEST, Find, groups
from .naming import slugs

BEND = 2  # in 1/255: the axis is linear up to there, then logarithmic


def curves(finds: Sequence[Find]) -> list[Drawing]:
    """One figure for each model, dataset, norm and threshold (arXiv:2206.07179, figures 6 and 7)."""
    found = groups(finds)
    panels = list(dict.fromkeys(group[:-1] for group in found))
    names = slugs([" ".join(("minimal", *panel)) for panel in panels])
    with mpl.rc_context(STYLE):
        return [
            _curve(name, panel, {group[-1]: members for group, members in found.items() if group[:-1] == panel})
            for name, panel in zip(names, panels, strict=True)
        ]


def _curve(name: str, panel: tuple[str, ...], attacks: dict[str, list[Find]]) -> Drawing:
    model, data, norm, threshold = panel
    figure, (axis,) = canvas(3.2)
    unit = 255 if norm == "linf" else 1
    for (attack, members), stroke in zip(attacks.items(), strokes(len(attacks)), strict=True):
        sizes = np.sort([unit * find.size for find in members if find.success])
        standing = 1 - np.arange(len(sizes) + 1) / len(members)
        looks = {"color": INK, "linewidth": 2.0} if attack == BEST else stroke
        axis.step(np.concatenate(([0], sizes)), 100 * standing, where="post", label=attack, **looks)
    if norm == "linf":
        axis.set_xscale("symlog", linthresh=BEND, linscale=2)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set(
        xlim=(0, None),
        ylim=(0, 100),
        xlabel=f"{norm} size of the delta" + (", 1/255" if norm == "linf" else ""),
        ylabel="images that stand, %",
        title=f"{model} on {data}, {threshold} of pixels",
    )
    axis.legend()
    caption = (
        f"Share of images of which no delta of that size or less won {threshold} of the pixels; the lower the curve,"
        " the stronger the attack. Linear up to 2/255, then logarithmic."
    )
    return Drawing(name, f"Standing images, {threshold}", caption, figure)
