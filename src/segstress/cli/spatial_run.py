"""What the commands about localized damage share: the plan, the run, the table at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from .console import console


def plan_of(
    models: Sequence[Any],
    data: Sequence[str],
    specs: Sequence[Any],
    limit: int | None,
    seed: int,
    device: str = "cpu",
    batch_size: int = 1,
) -> Any:
    """Every perturbation on every image: none may be spared, or zones could not be compared."""
    from ..planning import read_plan

    numerics = {"device": device, "batch_size": batch_size}
    asked = {"models": list(models), "data": list(data), "perturbations": list(specs), "limit": limit, "seed": seed}
    return read_plan({**asked, "exhaustive": True, "numerics": numerics})


def carry_out(plan: Any, out: Path, workers: int, report: Callable[[Path], Path] | None = None) -> None:
    """Evaluate, write the page, print what is lost; exit code 1 where an image could not be answered."""
    from ..evaluation import evaluate
    from ..evaluation.local_report import spatial_report
    from ..planning.spatial import too_large
    from ..runtime import RunOptions
    from .progress import watch

    with watch(console, "damaging") as progress:
        for warning in too_large(plan):
            progress.warn(warning)
        done = evaluate(plan, out, RunOptions(workers), progress)
    page = (report or spatial_report)(done.folder)
    _show(done.folder)
    console.print(f"Report: {page}", highlight=False, soft_wrap=True)
    show_errors(done.errors)


def _show(folder: Path) -> None:
    """Class-mean accuracy inside and outside, and what is lost of it."""
    from ..results.local_results import spots

    table = Table("model", "perturbation", "severity", "region", "inside", "RCE", "outside", "RCE", "whole", "RCE")
    for spot in spots(folder):
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


def show_errors(errors: Sequence[str]) -> None:
    """Name the images that could not be used; exit code 1 where there are any."""
    for line in errors[:10]:
        console.print(f"[red]error:[/red] {line}", highlight=False, soft_wrap=True)
    if errors:
        console.print(f"{len(errors)} images could not be answered.", highlight=False)
        raise typer.Exit(1)
