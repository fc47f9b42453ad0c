"""Models against each other on the same images under the same threat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ...metrics.intervals import difference
from ..kit.table import Cell, Column, Table
from .assessment import Assessment
from .figure_names import headline, metric_of, title


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
