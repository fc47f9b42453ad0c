"""Everything that can be named, with one line on each."""

from __future__ import annotations

from typing import Any

from ..attacks import attacks, losses
from ..competition.discrepancy import concordances
from ..competition.formats.label_task import formats
from ..core import Registry, regions, targets
from ..corruptions import corruptions
from ..data import datasets
from ..fitting.plan import about, training_plans
from ..metrics import metrics
from ..models import models
from ..planning.battery_files import batteries, battery, local_batteries
from ..planning.papers import paper, papers
from ..reports.study import drawings, tables
from ..training import optimisers, recipes, schedules

REGISTRIES: dict[str, Registry[Any]] = {
    "attacks": attacks,
    "losses": losses,
    "corruptions": corruptions,
    "models": models,
    "datasets": datasets,
    "regions": regions,
    "targets": targets,
    "metrics": metrics,
    "concordances": concordances,
    "formats": formats,
    "recipes": recipes,
    "optimisers": optimisers,
    "schedules": schedules,
    "tables": tables,
    "figures": drawings,
}


def listing(sort: str) -> list[tuple[str, str]]:
    """Return names of one sort and what they stand for."""
    if sort == "batteries":
        attacking = [(name, f"attack: v{battery(name).version}. {battery(name).about}") for name in batteries()]
        return attacking + [(name, f"{of['command']}: {of['about']}") for name, of in local_batteries().items()]
    if sort == "plans":
        return [(name, paper(name).about) for name in papers()]
    if sort == "trainings":
        return [(name, about(name)) for name in sorted(training_plans())]
    registry = REGISTRIES[sort]
    return [(name, registry.about(name)) for name in registry.names()]
