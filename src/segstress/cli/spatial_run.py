"""What the commands about localized damage share: the run, and the table at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from .bundles import EvaluationOptions
from .console import console
from .running import carry_out, plan_of


def damage_and_report(
    common: EvaluationOptions,
    models: Sequence[Any],
    data: Sequence[str],
    perturbations: Sequence[Any],
    name: str,
    report: Callable[[Path], Path] | None = None,
) -> None:
    """Every perturbation on every image: none may be spared, or zones could not be compared."""
    from ..evaluation.local_report import spatial_report
    from ..planning.spatial import too_large

    settings = {"models": list(models), "data": list(data), "perturbations": list(perturbations)}
    plan = plan_of(common, exhaustive=True, **settings)
    carry_out(
        plan,
        common,
        report or spatial_report,
        _show,
        folder=common.folder(name),
        doing="damaging",
        warnings=too_large(plan),
    )


def _show(folder: Path) -> None:
    """Class-mean accuracy inside and outside, and what is lost of it."""
    from ..results.local_results import read_local

    table = Table("model", "perturbation", "severity", "region", "inside", "RCE", "outside", "RCE", "whole", "RCE")
    for spot in read_local(folder):
        if spot.corner or (spot.number and not spot.final):  # the page has a map of the places, and every attack
            continue
        figures = [
            "-" if math.isnan(value) else f"{100 * value:.1f}"
            for zone in ("inside", "outside", "all")
            for value in (spot.score("mean_accuracy", zone), spot.rce("mean_accuracy", zone))
        ]
        what = spot.what if spot.final or spot.goal == "any" else f"{spot.what} ({spot.goal})"
        table.add_row(spot.model, what, spot.strength, spot.where, *figures)
    console.print(table)
    console.print("Class-mean accuracy in percent; RCE is the share of the clean one that is lost.", highlight=False)
