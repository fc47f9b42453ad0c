"""Robustness against the size of the ball: studies of one model and dataset that differ in eps only."""

from __future__ import annotations

from collections.abc import Sequence

from ...metrics.intervals import Interval
from ..kit.drawing import CALM, HARM, INK, PERCENT, Drawing, canvas, strokes
from ..kit.naming import in_lines
from ..kit.table import Column, Rows, Table
from .assessment import Assessment
from .figure_names import headline, title

Family = Sequence[Assessment]  # in growing eps


def families(assessments: Sequence[Assessment]) -> list[Family]:
    """Return the studies that make a curve: the same model, data and ball, at more than one radius."""
    groups: dict[tuple[str, ...], list[Assessment]] = {}
    for assessment in assessments:
        if assessment.study.eps is not None:
            groups.setdefault((assessment.study.model, assessment.study.data, assessment.study.ball), []).append(
                assessment
            )
    grown = (sorted(family, key=_eps) for family in groups.values())
    return [family for family in grown if _eps(family[0]) < _eps(family[-1])]


def radii(family: Family) -> Table:
    """Return one line per radius, from the clean image on."""
    columns = (
        Column("eps", "eps", "number", hidden=True),
        Column("threat", "Threat"),
        *(Column(figure, title(figure), "interval") for figure in headline()),
    )
    rows: Rows = tuple(
        (eps, threat, *intervals) for (eps, threat), intervals in zip(_radii(family), _points(family), strict=True)
    )
    study = family[0].study
    note = "Worst case over the perturbations tried at each radius, with 95 % intervals over images."
    return Table("radii", f"{study.model} on {study.data}: growing eps", columns, rows, note, folded=True)


def radii_drawing(family: Family) -> Drawing:
    """Draw the worst case against eps, beside what a model that looks at nothing would reach."""
    study, points = family[0].study, _points(family)
    sizes = [eps for eps, _ in _radii(family)]
    figure, axes = canvas(2.9, len(headline()))
    for panel, (axis, name) in enumerate(zip(axes, headline(), strict=True)):
        column = [intervals[panel] for intervals in points]
        low, high = ([getattr(point, side) for point in column] for side in ("low", "high"))
        axis.fill_between(sizes, low, high, color=HARM, alpha=0.15, linewidth=0)
        axis.plot(sizes, [point.value for point in column], color=HARM, marker="o", markersize=4, label="worst case")
        axis.plot(sizes[:1], [column[0].value], color=CALM, marker="o", markersize=6, linestyle="", label="clean")
        floor = family[0].constant(name)
        axis.axhline(floor, color=INK, linestyle=":", linewidth=1, label="one class everywhere")
        axis.set(title=title(name), ylim=(0, 1.03), xlim=(0, None))
        axis.set_xlabel(f"eps ({study.ball})" if study.ball != "linf" else "eps (linf), of 255")
        axis.yaxis.set_major_formatter(PERCENT)
        if study.ball == "linf":
            axis.xaxis.set_major_formatter(lambda size, _: f"{255 * size:.3g}")
            axis.set_xticks(sizes)
    axes[0].set_ylabel("%")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    caption = "What is left in the worst case as the ball grows; the band is the 95 % interval over images."
    return Drawing("radii", f"{study.model} on {study.data}: growing eps", caption, figure)


def multiples(grown: Sequence[Family]) -> Drawing | None:
    """Draw the curves of all models in panels of the same axes; None where there is but one."""
    if len(grown) < 2:
        return None
    across = min(ACROSS, len(grown))
    rows = -(-len(grown) // across)
    figure, axes = canvas(0.8 + 2.1 * rows, across, rows)
    for axis, family in zip(axes, grown, strict=False):
        study, points = family[0].study, _points(family)
        scale = 255 if study.ball == "linf" else 1
        sizes = [scale * eps for eps, _ in _radii(family)]
        for panel, (name, stroke) in enumerate(zip(headline(), strokes(len(headline())), strict=True)):
            column = [intervals[panel] for intervals in points]
            low, high = ([getattr(point, side) for point in column] for side in ("low", "high"))
            axis.fill_between(sizes, low, high, color=stroke["color"], alpha=0.12, linewidth=0)
            axis.plot(sizes, [point.value for point in column], **stroke, marker="o", markersize=3, label=title(name))
        axis.set(ylim=(0, 1.03), xlim=(0, None), xlabel=f"eps ({study.ball})" + (", of 255" if scale > 1 else ""))
        axis.set_title(in_lines(f"{study.model} on {study.data}", 34), fontsize=8)
        axis.yaxis.set_major_formatter(PERCENT)
    for axis in axes[len(grown) :]:
        axis.set_axis_off()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(headline()))
    caption = "Worst case against eps, %, model by model on the same axes; bands: 95 % intervals over images."
    return Drawing("all-radii", "Growing eps, side by side", caption, figure)


ACROSS = 3  # panels in a row


def _radii(family: Family) -> list[tuple[float, str]]:
    return [(0.0, "clean"), *((_eps(assessment), assessment.study.threat) for assessment in family)]


def _points(family: Family) -> list[list[Interval]]:
    """Return the figures at each radius."""
    clean = [family[0].clean_interval(figure) for figure in headline()]
    return [clean, *([assessment.worst_interval(figure) for figure in headline()] for assessment in family)]


def _eps(assessment: Assessment) -> float:
    return assessment.study.eps or 0.0
