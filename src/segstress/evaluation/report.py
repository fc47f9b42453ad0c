"""From a folder of results to studies, and from studies to a report; no model and no dataset is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
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
    """Return one study for each model, dataset and threat in the folders, with all that speaks against it.

    What several runs hold is named by its run, so that they stand side by side."""
    runs = [(folder, Run(folder)) for folder in folders]
    answered = [(folder, sealed(annotate(study, run), run)) for folder, run in runs for study in read_studies(run)]
    repeats = Counter((study.model, study.data, study.threat) for _, study in answered)
    unique = len({folder.resolve().name for folder, _ in runs}) == len(runs)
    return [
        replace(study, model=f"{study.model} ({folder.resolve().name if unique else folder})")
        if repeats[study.model, study.data, study.threat] > 1
        else study
        for folder, study in answered
    ]
