"""One patch slid over the image: where damage hurts most elsewhere, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from ...metrics.intervals import Interval
from ...results.local import HEADLINE, LocalResult, mean_rce
from ..kit.drawing import PERCENT, Drawing, canvas
from ..kit.table import Column, Rows, Table
from .curves import LOST

Position = tuple[str, str, int, int]  # model, data, top and left of the patch


def positions(results: Sequence[LocalResult]) -> Table:
    """Tabulate RCE outside of the patch for every position of it."""
    columns = (
        Column("model", "Model"),
        Column("data", "Data"),
        Column("top", "Top edge, pixels", "count"),
        Column("left", "Left edge, pixels", "count"),
        Column("rce_outside", "RCE, outside", "interval"),
    )
    rows: Rows = tuple((*position, lost) for position, lost in _losses(results).items())
    note = "RCE of class-mean accuracy outside of the patch; mean over what was done to it."
    return Table("positions", "Every position of the patch", columns, rows, note, folded=True)


def positions_drawing(results: Sequence[LocalResult]) -> Drawing | None:
    """Draw maps of RCE outside of one patch for every position of the patch, and below them how sure they are."""
    losses = _losses(results)
    if len({position[2:] for position in losses}) < 2:
        return None
    studies = list(dict.fromkeys(position[:2] for position in losses))
    figure, axes = canvas(5.2, len(studies), rows=2)
    above, below = axes[: len(studies)], axes[len(studies) :]
    several = len({data for _, data in studies}) > 1
    shades = {}
    for axis, other, (model, data) in zip(above, below, studies, strict=True):
        own = {position[2:]: lost for position, lost in losses.items() if position[:2] == (model, data)}
        shades[axis] = _map(axis, {corner: lost.value for corner, lost in own.items()}, "RdBu_r")
        shades[other] = _map(other, {corner: (lost.high - lost.low) / 2 for corner, lost in own.items()}, "Greys")
        axis.set_title(f"{model} on {data}" if several else model)
        other.set_xlabel("left edge, pixels")
    for row, label in ((above, "RCE outside, %"), (below, "half of its interval, %")):
        highest = max((_highest(shades[axis]) for axis in row), default=1.0) or 1.0
        for axis in row:
            shades[axis].set_clim(-highest if row is above else 0, highest)
        row[0].set_ylabel("top edge, pixels")
        figure.colorbar(shades[row[-1]], ax=row, label=label, format=PERCENT)
    caption = (
        f"{LOST} outside of one patch, which was slid over the image; mean over what was done to it. Below, half of"
        " the width of its 95 % interval over images: differences between positions that are smaller tell little."
    )
    return Drawing("positions", "Where it hurts most", caption, figure)


def _losses(results: Sequence[LocalResult]) -> Mapping[Position, Interval]:
    by_position: dict[Position, list[LocalResult]] = {}
    for result in results:
        if result.corner:
            by_position.setdefault((result.model, result.data, *result.corner), []).append(result)
    return {position: mean_rce(several, HEADLINE, "outside") for position, several in by_position.items()}


def _map(axis: Axes, values: Mapping[tuple[int, int], float], colours: str) -> AxesImage:
    """Draw values at the corners of patches."""
    rows, columns = (sorted({corner[number] for corner in values}) for number in (0, 1))
    grid = [[values.get((row, column), math.nan) for column in columns] for row in rows]
    axis.set_xticks(range(len(columns)), [str(column) for column in columns])
    axis.set_yticks(range(len(rows)), [str(row) for row in rows])
    return axis.imshow(np.array(grid), cmap=colours)


def _highest(shade: AxesImage) -> float:
    values = np.abs(np.asarray(shade.get_array(), dtype=float))
    return float(np.nanmax(values)) if np.isfinite(values).any() else 0.0
