"""From a folder of results to studies, and from studies to a report; no model and no dataset is needed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..attacks import Attack
from ..attacks.alone import Alone
from ..core import BadInput, Perturbation, digest, perturbations
from ..models import models
from ..reports import Study, summary, write
from ..reports.table import Table
from ..runtime import Cell, Store
from .doctor import annotate
from .findings import study_of
from .plan import Plan, read_plan


def report(folders: Sequence[Path], out: Path | None = None, beside: Sequence[Table] = ()) -> Path:
    """Write tables, figures, gallery and page, with tables from elsewhere beside them; the path of the page."""
    found, place = studies(folders), out or folders[0] / "report"
    if (place / "index.html").exists():  # an earlier report: files that this one has no more must not stay
        for part in ("tables", "figures", "gallery"):
            shutil.rmtree(place / part, ignore_errors=True)
    return write(found, place, title=" and ".join(folder.resolve().name for folder in folders), beside=beside)


def figures(folders: Sequence[Path]) -> dict[str, Any]:
    """Every figure as plain data, for `report --json`."""
    return summary(studies(folders))


def studies(folders: Iterable[Path]) -> list[Study]:
    """One study for each model, dataset and threat found in the folders."""
    return [study for folder in folders for study in _studies(folder)]


def _studies(folder: Path) -> list[Study]:
    store = Store(folder)
    if not store.cells():
        raise BadInput(f"{folder} holds no results; expected a folder made by segstress run or segstress attack")
    plan = read_plan(folder / "plan.yaml")
    cells = declared(store.cells(), plan)
    found = []
    for clean in (cell for cell in cells if cell.perturbation["kind"] == "clean"):
        same = [cell for cell in cells if (cell.prints, cell.seed) == (clean.prints, clean.seed) and cell is not clean]
        built = [(cell, perturbations.build(cell.perturbation)) for cell in same]
        threats = list(dict.fromkeys(_threat(change) for _, change in built)) or [""]
        for threat in threats:
            members = [(cell, change) for cell, change in built if _threat(change) == threat]
            found.append(annotate(study_of(store, clean, members, plan), folder))
    return found


def declared(cells: list[Cell], plan: Plan) -> list[Cell]:
    """Cells in the order of the plan; those of a battery that this version does not know stay as they are."""
    order = [*map(models.spec, map(models.build, plan.models)), *map(perturbations.spec, _changes(plan))]
    place = {digest(spec): number for number, spec in enumerate(order)}
    last = len(place)  # for what another version of segstress stored
    return sorted(
        cells, key=lambda cell: [place.get(digest(dict(spec)), last) for spec in (cell.model, cell.perturbation)]
    )


def _changes(plan: Plan) -> list[Perturbation]:
    """What the plan asks for; without its battery where that is gone, since a report needs only its results."""
    try:
        return plan.changes()
    except BadInput:
        return replace(plan, battery=None).changes()


def _threat(change: Perturbation) -> str:
    return str(change.threat) if isinstance(change, Attack | Alone) else ""
