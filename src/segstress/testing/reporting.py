"""What every table and figure of a report must keep; `check_table` and `check_figure` are public, for plug-ins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ..metrics.intervals import Interval
from ..reports.kit import Drawing, Table
from ..reports.kit.table import Cell, Kind
from ..reports.study.assessment import Assessment, assess
from ..reports.study.registry import drawings, tables
from ..results.study import Study
from .studies import STUDIES

Made = TypeVar("Made")


def check_table(table: str | Callable[[Assessment], Table | None]) -> None:
    """Check that a table is made, alike each time, of every made study, and that its cells are what it says."""
    for study, first, second in _twice(tables.get(table) if isinstance(table, str) else table):
        assert tuple(first.rows) == tuple(second.rows) or _without_nan(first) == _without_nan(second), (
            f"{study}: made twice, its rows differ"
        )
        assert first.title, f"{study}: no title"
        keys = [column.key for column in first.columns]
        assert len(set(keys)) == len(keys), f"{study}: two columns have one key: {keys}"
        for row in first.rows:
            for column, cell in zip(first.columns, row, strict=True):
                assert _fits(cell, column.kind), f"{study}: {cell!r} in the column {column.key} of kind {column.kind}"


def check_figure(figure: str | Callable[[Assessment], Drawing | None]) -> None:
    """Check that a figure is drawn, byte for byte alike each time, of every made study, with words below it."""
    for study, first, second in _twice(drawings.get(figure) if isinstance(figure, str) else figure):
        assert first.title, f"{study}: no title"
        assert first.caption, f"{study}: no caption"
        assert first.svg == second.svg, f"{study}: drawn twice, it differs"


def _twice(make: Callable[[Assessment], Made | None]) -> Iterator[tuple[str, Made, Made]]:
    """Yield what is made of each study, two times; the study must stay as it is."""
    assert (make.__doc__ or "").strip(), "its docstring does not say what it is"
    shown = 0
    for name, build in STUDIES.items():
        study = build()
        first, second = make(assess(study)), make(assess(study))
        assert _content(study) == _content(build()), f"{name}: it changed the study"
        assert (first is None) == (second is None), f"{name}: made once, and once not"
        if first is not None and second is not None:
            shown += 1
            yield name, first, second
    assert shown, f"it shows nothing of any of these studies: {', '.join(STUDIES)}"


def _content(study: Study) -> list[bytes]:
    counts = (table for outcome in study.outcomes for table in outcome.counts.values())
    pictures = (array for frame in study.frames for array in (frame.image, frame.perturbed, frame.clean))
    objects = (study.objects.area, study.objects.clean, *study.objects.correct.values())
    return [np.ascontiguousarray(array).tobytes() for array in (*study.clean.values(), *counts, *pictures, *objects)]


def _without_nan(table: Table) -> list[str]:
    return [repr(row) for row in table.rows]


def _fits(cell: Cell, kind: Kind) -> bool:
    """Tell whether a cell is of the kind of its column; NaN stands for what is not known, in any of numbers."""
    if isinstance(cell, Interval):
        return kind == "interval" and (math.isnan(cell.low) or cell.low <= cell.value <= cell.high)
    if isinstance(cell, str):
        return kind == "text"
    if math.isnan(cell):
        return kind not in ("text", "interval")
    return {
        "count": float(cell).is_integer() and cell >= 0,
        "share": -1 <= cell <= 1,
        "number": True,
    }.get(kind, False)
