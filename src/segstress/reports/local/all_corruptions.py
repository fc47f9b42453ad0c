"""Accuracy over a set of corruptions, and what it lacks against the model itself and against every other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...results.degradation import corruption_error
from ...results.local import NOTHING, LocalResult, mean_score
from ..kit.table import Cell, Column, Table

FIGURE = "accuracy_image_mean"  # equations 2 to 5 of arXiv:2504.01632
ZONES = ("inside", "outside", "all")
Group = tuple[str, str]  # data and region


def all_corruptions(results: Sequence[LocalResult]) -> Table:
    """Average every model over all corruptions and severities of a region: A(f, C), and CE with any reference."""
    by_model: dict[Group, dict[str, list[LocalResult]]] = {}
    for result in results:
        if result.natural and not result.corner:
            by_model.setdefault((result.data, result.where), {}).setdefault(result.model, []).append(result)
    several = {group: models for group, models in by_model.items() if _alike(models)}
    names = list(dict.fromkeys(model for models in several.values() for model in models))
    columns = (
        Column("model", "Model"),
        Column("data", "Data"),
        Column("region", "Region"),
        Column("damages", "Damages", "count"),
        *(Column(f"accuracy_{zone}", f"Accuracy, {zone}", "interval") for zone in ZONES),
        *(Column(f"ce_{name}", f"CE against {name}", "interval", hidden=len(names) > 3) for name in names),
    )
    rows = tuple(_row(group, model, models, names) for group, models in several.items() for model in models)
    note = (
        "Accuracy (mean over images) averaged over all corruptions and severities of the region. CE = (A - a) / A with"
        " A the clean accuracy of the reference on the whole image and a that of the model on the damaged one."
    )
    return Table("all-corruptions", "Over all corruptions", columns, rows, note)


def _alike(models: Mapping[str, Sequence[LocalResult]]) -> bool:
    """Tell whether there is something to average, and the same of every model."""
    sets = [{(result.what, result.severity) for result in own} for own in models.values()]
    return len(sets[0]) > 1 and all(one == sets[0] for one in sets)


def _row(
    group: Group, model: str, models: Mapping[str, Sequence[LocalResult]], names: Sequence[str]
) -> tuple[Cell, ...]:
    own = models[model]
    errors = (corruption_error(models[name][0], own, FIGURE) if name in models else NOTHING for name in names)
    return (model, *group, len(own), *(mean_score(own, FIGURE, zone) for zone in ZONES), *errors)
