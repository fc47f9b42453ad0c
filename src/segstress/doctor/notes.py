"""What the doctor found in a run, kept in its folder for the report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from ..core.files import write
from ..results.run import Run
from ..results.study import Study
from .flag import Diagnosis, Flag
from .results import doubt

FILE = "doctor.json"


def keep_notes(folder: Path, diagnoses: Iterable[Diagnosis]) -> None:
    """Write what was found, in place of what was written before."""
    plain = [asdict(diagnosis) for diagnosis in diagnoses if diagnosis.flags]
    write(folder / FILE, json.dumps(plain, indent=1).encode())


def annotate(study: Study, run: Run) -> Study:
    """The study with all that speaks against it among its warnings."""
    flags = [*read_notes(run.folder, study.model, study.data), *doubt(study, run.perturbations.values())]
    return replace(study, warnings=(*map(str, flags), *study.warnings))


def read_notes(folder: Path, model: str, data: str) -> list[Flag]:
    """What was found of one model on one dataset."""
    path = folder / FILE
    entries = json.loads(path.read_text()) if path.exists() else []
    mine = [entry for entry in entries if (entry["model"], entry["data"]) == (model, data)]
    return [Flag(**flag) for entry in mine for flag in entry["flags"]]
