"""What the commands about localized damage share: the run, and the table at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from .bundles import EvaluationOptions
from .console import console, show_grid
from .running import Presented, carry_out, records

if TYPE_CHECKING:
    from ..results.local import LocalResult
    from ..results.run import Run


GIVEN = ("COMMANDLINE", "ENVIRONMENT")  # where a value comes from that is no default
FREE = {"model", "data", "members", "weights", "battery", *(field.name for field in fields(EvaluationOptions))}


def refuse_beside_battery(context: typer.Context) -> None:
    """Refuse, in one line, what shapes the damage beside a battery: it would be ignored."""
    battery = context.params["battery"]
    sources = {name: context.get_parameter_source(name) for name in context.params if name not in FREE}
    typed = [f"--{name.replace('_', '-')}" for name, source in sources.items() if source and source.name in GIVEN]
    if battery is not None and typed:
        raise typer.BadParameter(
            f"{', '.join(typed)}: --battery {battery} says so itself; leave these out, or the battery"
        )


def damage_and_report(
    common: EvaluationOptions,
    models: Sequence[Any],
    data: Sequence[str],
    perturbations: Sequence[Any],
    name: str,
    report: Callable[[Run, Sequence[LocalResult]], Path] | None = None,
) -> None:
    """Try every perturbation on every image: none may be spared, or zones could not be compared."""
    from ..planning.spatial import too_large

    settings = {"models": list(models), "data": list(data), "perturbations": list(perturbations)}
    plan = common.plan(exhaustive=True, **settings)
    present = partial(present_damage, report=report)
    carry_out(plan, common, present, folder=common.folder(name), doing="damaging", warnings=too_large(plan))


def present_damage(folder: Path, report: Callable[[Run, Sequence[LocalResult]], Path] | None = None) -> Presented:
    """Show what was lost in a folder's run, and write its page."""
    from ..evaluation.local_report import spatial_report
    from ..reports.local.tables import scores
    from ..results.local_results import read_local
    from ..results.run import Run

    run = Run(folder)
    results = read_local(run)
    page = (report or spatial_report)(run, results)
    _show(results)
    return Presented(page, records(scores(results)))


def _show(results: Sequence[LocalResult]) -> None:
    """Class-mean accuracy inside and outside, and what is lost of it."""
    table = Table("model", "perturbation", "severity", "region", "inside", "RCE", "outside", "RCE", "whole", "RCE")
    for result in results:
        if result.corner or (result.number and not result.final):  # the page has a map of the places, and every attack
            continue
        figures = [
            "-" if math.isnan(value) else f"{100 * value:.1f}"
            for zone in ("inside", "outside", "all")
            for value in (result.score("mean_accuracy", zone), result.rce("mean_accuracy", zone))
        ]
        what = result.what if result.final or result.goal == "any" else f"{result.what} ({result.goal})"
        table.add_row(result.model, what, result.strength, result.where, *figures)
    if not table.row_count:
        console.print("One patch was slid over the images; the page maps what was lost for every place of it.")
        return
    show_grid(table)
    console.print("Class-mean accuracy in percent; RCE is the share of the clean one that is lost.")
    console.print("Intervals of all of them are on the page, and in --json.")
