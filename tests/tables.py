"""Tables of a run without page and figures: what must be equal, byte for byte, however the run was carried out."""

from __future__ import annotations

from pathlib import Path

from segstress.evaluation.report import studies
from segstress.reports.kit.table_files import table_files
from segstress.reports.study.assessment import assess
from segstress.reports.study.registry import makers
from segstress.reports.study.registry import tables as registry


def tables(folder: Path) -> dict[str, bytes]:
    """Every table of a run, in every format."""
    files = {}
    for study in studies([folder]):
        assessment, name = assess(study), f"{study.model}-{study.data}-{study.threat}"
        for kind, make in makers(registry).items():
            table = make(assessment)
            if table is not None:
                files |= {path: b"".join(pieces) for path, pieces in table_files(table, f"{name}-{kind}")}
    assert files, f"{folder} has no tables"
    return files
