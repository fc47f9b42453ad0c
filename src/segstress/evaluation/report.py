"""From a folder of results to studies, and from studies to a report; no model and no dataset is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..doctor import annotate
from ..reports.kit.table import Table
from ..reports.study.report import write
from ..reports.study.summary import summary
from ..results.run import Run
from ..results.seal import sealed
from ..results.studies import read_studies
from ..results.study import Study


def report(
    folders: Sequence[Path],
    out: Path | None = None,
    beside: Sequence[Table] = (),
    known: Sequence[Study] | None = None,  # their studies, where they were read already
) -> Path:
    """Write tables, figures, gallery and page, with tables from elsewhere beside them; the path of the page."""
    title = " and ".join(folder.resolve().name for folder in folders)
    known = studies(folders) if known is None else known
    return write(known, out or folders[0] / "report", title=title, beside=beside)


def figures(folders: Sequence[Path]) -> dict[str, Any]:
    """Return every figure as plain data, for `report --json`."""
    return summary(studies(folders))


def studies(folders: Iterable[Path]) -> list[Study]:
    """Return one study for each model, dataset and threat in the folders, with all that speaks against it."""
    return [sealed(annotate(study, run), run) for run in map(Run, folders) for study in read_studies(run)]
