"""What the doctor found in a run, kept in its folder for the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..results.run import Run
from ..results.seal import NOTES
from ..results.study import Study
from ..runtime import read_json, write_json
from .examination import CHECKS
from .flag import Diagnosis, Flag
from .results import doubt


def keep_notes(folder: Path, diagnoses: Iterable[Diagnosis]) -> None:
    """Write what was found, in place of what was written before."""
    plain = [asdict(diagnosis) for diagnosis in diagnoses]
    write_json(folder / NOTES, {"notes": plain})


def annotate(study: Study, run: Run) -> Study:
    """Return the study with all that speaks against it among its warnings."""
    flags = [*read_notes(run.folder, study.model, study.data), *doubt(study, run.perturbations.values())]
    checkup = say(read_checks(run.folder, study.model, study.data), len(flags))
    return replace(study, warnings=(*map(str, flags), *study.warnings), checkup=checkup)


def say(checks: tuple[list[str], list[str]], flags: int) -> tuple[str, ...]:
    """Return what was checked with what outcome, and what was not, in a line each."""
    checked, unchecked = checks
    outcome = f"{flags} warning{'s' if flags > 1 else ''}" if flags else "no warnings"
    lines = [f"Checked: {', '.join(checked)}: {outcome}."] if checked else []
    lines += [f"NOT checked: {', '.join(unchecked)}."] if unchecked or not checked else []
    return tuple(lines)


def read_checks(folder: Path, model: str, data: str) -> tuple[list[str], list[str]]:
    """Return what was checked of one model on one dataset, and what was not: all where there are no notes."""
    entries = [entry for entry in _entries(folder, model, data) if entry.get("checked") or entry.get("unchecked")]
    if not entries:
        return [], list(CHECKS)
    return entries[0]["checked"], entries[0]["unchecked"]


def read_notes(folder: Path, model: str, data: str) -> list[Flag]:
    """Return what was found of one model on one dataset."""
    return [Flag(**flag) for entry in _entries(folder, model, data) for flag in entry["flags"]]


def _entries(folder: Path, model: str, data: str) -> list[dict[str, Any]]:
    path = folder / NOTES
    entries = read_json(path, items="notes")["notes"] if path.exists() else []
    return [entry for entry in entries if (entry["model"], entry["data"]) == (model, data)]
