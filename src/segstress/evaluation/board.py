"""A board from runs: only whole, sealed ones unless that is asked for, each with its report and plan beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..core import BadInput
from ..reports.board.entry import BoardEntry
from ..reports.board.page import write_board
from ..reports.kit.naming import slugs
from ..reports.study.assessment import assess
from ..reports.study.completeness import warnings
from ..results.study import Study
from .report import report, studies

REPORTS = "runs"  # folder of the reports, below the board's
UNSEALED = "bears no seal"


def board(folders: Sequence[Path], out: Path, *, unsealed: bool = False, title: str = "Board", by: str = "") -> Path:
    """Write the board of some runs; its page. Nothing is written before every run has been let in."""
    names = slugs([folder.resolve().name for folder in folders])
    known = [studies([folder]) for folder in folders]
    entries = [
        entry
        for name, folder, of_run in zip(names, folders, known, strict=True)
        for entry in _entries(name, folder, of_run)
    ]
    faults = dict.fromkeys(f"{entry.run}: {line}" for entry in entries for line in entry.warnings)
    if faults and not unsealed:
        raise BadInput(f"{'; '.join(faults)}. A board takes whole, sealed runs; --unsealed lets all in, and says so")
    page = write_board(entries, out, title, by)
    for name, folder, of_run in zip(names, folders, known, strict=True):
        report([folder], out / REPORTS / name, known=of_run)
        shutil.copyfile(folder / "plan.yaml", out / REPORTS / name / "plan.yaml")
    return page


def _entries(name: str, folder: Path, of_run: Sequence[Study]) -> Iterator[BoardEntry]:
    for assessment in map(assess, of_run):
        faults = [*warnings(assessment), *([] if assessment.study.seal else [UNSEALED])]
        yield BoardEntry(
            assessment,
            run=folder.resolve().name,
            page=f"{REPORTS}/{name}/index.html",
            plan=f"{REPORTS}/{name}/plan.yaml",
            command=f"segstress run plan.yaml --out runs/{name}",
            warnings=tuple(faults),
        )
