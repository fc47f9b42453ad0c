"""The page of smallest changes: figures, what they mean, and every number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...results.minimal import MinimalResult
from ...results.record import RunRecord
from ..kit.drawing import Drawing
from ..kit.naming import plural
from ..kit.page import PageFiles, write_page
from ..kit.table import Table
from ..kit.verdict import Point, completeness, cost, provenance, sealed
from .figures import DRAWINGS
from .gallery import SmallestChange, strips
from .tables import BEST, SETTING, TABLES, by_setting, unit


def write_minimal(
    results: Sequence[MinimalResult],
    folder: Path,
    title: str,
    remarks: Sequence[str],
    alarms: Sequence[str] = (),
    scenes: Sequence[SmallestChange] = (),
    record: RunRecord | None = None,
) -> Path:
    """Write tables, figures, pictures and the page; the path of the page."""

    def declare(files: PageFiles) -> dict[str, Any]:
        tables = [*map(_leaner, files.make(Table, TABLES, results)), *([provenance(record)] if record else ())]
        part = files.part("", tables, files.make(Drawing, DRAWINGS, results), strips(scenes))
        words: dict[str, Any] = {"headlines": headlines(results), "remarks": remarks, "alarms": alarms}
        words |= {"points": list(points(results, record, len(alarms)))}
        return {"title": title, "part": part, **words}

    return write_page(folder, "minimal.html", declare)


def points(results: Sequence[MinimalResult], record: RunRecord | None, alarms: int) -> Iterator[Point]:
    """Yield what was looked at, whether it is complete, the seal and the cost."""
    images = len({(result.data, result.image) for result in results})
    yield Point("Looked at", f"{plural(images, 'image')}, {plural(len(results), 'result')}", good=images > 1)
    yield completeness(alarms)
    if record is not None:
        yield sealed(record.seal)
        yield cost(record.forwards, record.backwards)


def _leaner(table: Table) -> Table:
    """Hide the columns of a setting that is the same in all rows: the headlines name it."""
    columns = zip(table.columns, zip(*table.rows, strict=True), strict=True)
    return table.hiding([column.key for column, cells in columns if column in SETTING and len(set(cells)) == 1])


def headlines(results: Sequence[MinimalResult]) -> list[str]:
    """Write one sentence for each model, dataset, norm and threshold."""
    lines = []
    for (model, data, norm, threshold), attacks in by_setting(results).items():
        members = attacks.get(BEST) or next(iter(attacks.values()))
        broken = [unit(norm) * result.size for result in members if result.success]
        size = f"{np.median(broken):.3g}" if broken else ""
        words = {"linf": f"a linf change of {size}/255", "l0": f"{size} changed pixels"}.get(norm, f"{norm} {size}")
        start = f"{model} on {data}: {len(broken)} of {plural(len(members), 'image')} broken ({threshold} of pixels)"
        rounded = sum(result.success_rounded for result in members if result.success)
        still = f"; {rounded} of them still once rounded to {members[0].depth}" if broken else ""
        lines.append(f"{start}, at the median by {words}{still}." if broken else f"{start}.")
    return lines
