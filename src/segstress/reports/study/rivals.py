"""Models against each other on the same images under the same threat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ...metrics.intervals import Interval, difference
from ..kit.drawing import INK, PERCENT, Drawing, canvas, strokes
from ..kit.table import Cell, Column, Table
from .assessment import Assessment
from .figure_names import headline, metric_of, title

MOST = 24  # pairs in a figure


def rivals(assessments: Sequence[Assessment]) -> list[list[Assessment]]:
    """Return studies of different models that can be compared image by image, in groups of two or more."""
    groups: dict[tuple[object, ...], dict[str, Assessment]] = {}
    for assessment in assessments:
        study = assessment.study
        groups.setdefault((study.data, study.threat, study.ids, study.classes), {}).setdefault(study.model, assessment)
    return [list(group.values()) for group in groups.values() if len(group) > 1]


def pairs(groups: Sequence[Sequence[Assessment]]) -> Table:
    """Compare pairs of models: the first's worst case minus the second's, with paired bootstrap intervals."""
    columns = (
        *(Column(key, key.capitalize()) for key in ("first", "second", "data", "threat")),
        Column("images", "Images", "count"),
        *(
            column
            for figure in headline()
            for column in (
                Column(figure, f"{title(figure)}, first - second", "interval"),
                Column(f"{figure}_doubt", f"{title(figure)}, doubt", "number", hidden=True),
            )
        ),
    )
    rows = [row for group in groups for first, second in combinations(group, 2) for row in _pair(first, second)]
    note = (
        "Worst case of the first model minus that of the second, in points; 95 % intervals over images, in"
        " pairs. An interval that does not hold 0 says which of the two is sturdier."
    )
    return Table("pairs", "Model against model", columns, tuple(rows), note)


def pairs_drawing(groups: Sequence[Sequence[Assessment]]) -> Drawing | None:
    """Draw the paired differences with their intervals; beyond so many pairs the table alone has them."""
    table = pairs(groups)
    if not 0 < len(table.rows) <= MOST:
        return None
    figures, rows = headline(), np.arange(len(table.rows))
    figure, (axis,) = canvas(1.2 + len(rows) * (0.25 + 0.06 * len(figures)))
    for number, (name, stroke) in enumerate(zip(figures, strokes(len(figures)), strict=True)):
        column = next(position for position, column in enumerate(table.columns) if column.key == name)
        points = [row[column] for row in table.rows]
        values = np.array([(p.value, p.low, p.high) for p in points if isinstance(p, Interval)])
        lines = rows + 0.6 * ((number + 0.5) / len(figures) - 0.5)  # side by side within the line
        reach = np.nan_to_num(np.abs(values[:, 1:] - values[:, :1]).T)
        axis.errorbar(values[:, 0], lines, xerr=reach, fmt="o", ms=4, color=stroke["color"], label=title(name))
    axis.axvline(0, color=INK, linewidth=0.8)
    several = len({row[2:4] for row in table.rows}) > 1
    names = (f"{row[0]}\nminus {row[1]}" + (f", {row[3]}" if several else "") for row in table.rows)
    axis.set_yticks(rows, list(names))
    axis.set(xlabel="first minus second in the worst case, points", ylim=(len(rows) - 0.5, -0.5))
    axis.xaxis.set_major_formatter(PERCENT)
    figure.legend(loc="outside upper right", ncols=len(figures))
    caption = "Bars: 95 % intervals over images, in pairs. One that does not cross the line says who is sturdier."
    return Drawing("pairs", "Who is sturdier", caption, figure)


def _pair(first: Assessment, second: Assessment) -> list[tuple[Cell, ...]]:
    """Return the line of two models, over the images that both have answered; none where there is no such image."""
    both = first.answered[0] & second.answered[0]
    if not both.any():
        return []
    cells: list[Cell] = []
    for figure in headline():
        left, right = (assessment.worst[figure].counts[both] for assessment in (first, second))
        lead = difference(left, right, metric_of(figure))
        cells += [lead, lead.doubt]
    study = first.study
    return [(study.model, second.study.model, study.data, study.threat, int(both.sum()), *cells)]
