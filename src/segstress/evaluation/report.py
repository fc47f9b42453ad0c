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
from ..results.studies import read_studies
from ..results.study import Study


def report(
    folders: Sequence[Path],
    out: Path | None = None,
    beside: Sequence[Table] = (),
    found: Sequence[Study] | None = None,  # their studies, where they were read already
) -> Path:
    """Write tables, figures, gallery and page, with tables from elsewhere beside them; the path of the page."""
    title = " and ".join(folder.resolve().name for folder in folders)
    found = studies(folders) if found is None else found
    return write(found, out or folders[0] / "report", title=title, beside=beside)


def figures(folders: Sequence[Path]) -> dict[str, Any]:
    """Every figure as plain data, for `report --json`."""
    return summary(studies(folders))


def studies(folders: Iterable[Path]) -> list[Study]:
    """One study for each model, dataset and threat found in the folders, with all that speaks against it."""
    return [annotate(study, run) for run in map(Run, folders) for study in read_studies(run)]
