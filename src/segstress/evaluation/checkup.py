"""The doctor's visit: cheap checks of models on data, then a small trial attack whose results are doubted too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..core import BadInput
from ..doctor import Diagnosis, Flag, admit, doubt, examine, read_notes
from ..planning.plan import Plan, read_plan
from ..runtime import RunOptions
from .report import studies
from .run import evaluate

# Two lengths and two schedules of the same attack, one without gradients, one at a radius that should leave nothing.
TRIAL = (
    *({"attack": "pgd", "steps": steps, "eps": "8/255"} for steps in (20, 40)),
    *(
        {"attack": "progressive-jsd", "steps": 30, "progressive": shrinking, "eps": "8/255"}
        for shrinking in (True, False)
    ),
    {"attack": "dla", "steps": 40, "eps": "8/255"},
    {"attack": "apgd-margin", "steps": 40, "eps": "128/255"},
)
IMAGES = 2


def check_up(*, quick: bool = False, **settings: Any) -> list[Diagnosis]:
    """Return every flag of each model on each dataset; quick = the cheap checks alone."""
    plan = read_plan({"limit": IMAGES, **settings, "perturbations": list(TRIAL)})
    before = examine(plan)
    if quick or not _admissible(plan, before):
        return before
    with TemporaryDirectory() as temporary:
        folder = evaluate(plan, Path(temporary) / "trial", RunOptions(workers=1)).folder
        tried = [Diagnosis(study.model, study.data, tuple(doubt(study, plan.changes()))) for study in studies([folder])]
        return [
            _together(diagnosis, read_notes(folder, diagnosis.model, diagnosis.data), tried) for diagnosis in before
        ]


def _admissible(plan: Plan, diagnoses: list[Diagnosis]) -> bool:
    """Tell whether a trial would mean anything; if not, the flags say why."""
    try:
        admit(plan, diagnoses)
    except BadInput:
        return False
    return True


def _together(diagnosis: Diagnosis, noted: list[Flag], tried: list[Diagnosis]) -> Diagnosis:
    """Keep each flag once, in the order in which they were found."""
    mine = [other for other in tried if (other.model, other.data) == (diagnosis.model, diagnosis.data)]
    flags: dict[str, Flag] = {}
    for flag in (*diagnosis.flags, *(flag for other in mine for flag in other.flags), *noted):
        flags.setdefault(flag.name, flag)
    return replace(diagnosis, flags=tuple(flags.values()))
