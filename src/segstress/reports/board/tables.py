"""Models x threats: one table for each headline figure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...core import BadInput
from ...metrics.intervals import Interval
from ...results.study import Study
from ..kit.table import Cell, Column, Table
from ..study.assessment import Assessment
from ..study.figure_names import headline, title
from .entry import BoardEntry

Row = tuple[str, str, str, int]  # model, hash of its weights, data, images
UNKNOWN = Interval(math.nan, math.nan, math.nan)
NOTE = (
    "Worst case with its interval over images; an upper bound on robustness, which a stronger battery may lower."
    " Figures under different batteries or over different images are not comparable, so each has a column or a row"
    " of its own. A dash: not tried."
)


def board_tables(entries: Sequence[BoardEntry]) -> list[Table]:
    """Return the board of every headline figure."""
    return [_table(figure, entries) for figure in headline()]


def _table(figure: str, entries: Sequence[BoardEntry]) -> Table:
    threats = list(dict.fromkeys(_threat(entry.study) for entry in entries if entry.study.outcomes))
    rows: dict[Row, list[Interval]] = {}
    for entry in entries:
        cells = rows.setdefault(row_of(entry.assessment), [UNKNOWN] * (1 + len(threats)))
        cells[0] = entry.assessment.clean_interval(figure)
        if entry.study.outcomes:
            column = 1 + threats.index(_threat(entry.study))
            if cells[column] is not UNKNOWN:
                raise BadInput(
                    f"{entry.run}: {entry.study.model} on {entry.study.data} under {_threat(entry.study)} is in an"
                    " earlier run too; leave one of them out"
                )
            cells[column] = entry.assessment.worst_interval(figure)
    columns = (
        Column("model", "Model"),
        Column("weights", "Weights", hidden=True),
        Column("data", "Data"),
        Column("images", "Images", "count"),
        Column("clean", "Clean", "interval"),
        *(Column(threat, threat, "interval") for threat in threats),
    )
    best = sorted(rows.items(), key=lambda item: (item[0][2], [-_sortable(cell) for cell in item[1][1:]]))
    lines: tuple[tuple[Cell, ...], ...] = tuple((*row, *cells) for row, cells in best)
    return Table(figure, title(figure), columns, lines, NOTE)


def row_of(assessment: Assessment) -> Row:
    """Return what makes a line of its own: the same label with other weights or images is another one."""
    study = assessment.study
    return study.model, study.provenance["model hash"], study.data, int(assessment.answered[0].sum())


def _threat(study: Study) -> str:
    return f"{study.threat or 'no ball'}, {study.battery or ' + '.join(outcome.label for outcome in study.outcomes)}"


def _sortable(cell: Interval) -> float:
    return -math.inf if math.isnan(cell.value) else cell.value
