"""The command `minimal`: how small a change breaks a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from typer import Option

from . import options
from .console import console

if TYPE_CHECKING:
    from ..reports.kit.table import Table as Figures

# Jobs are imported inside the command: they bring torch, and `segstress --help` should not wait for it.
Attacks = Annotated[str, Option("--attack", help="Attacks that seek the smallest delta, separated by commas.")]
Shares = Annotated[
    str, Option("--enough", help="Shares of pixels that must fall, each searched for on its own, e.g. 0.99,0.9.")
]
Reference = Annotated[str, Option("--reference", help="What a won pixel differs from: truth or prediction.")]
OneTrajectory = Annotated[
    bool, Option("--one-trajectory", help="Show lower thresholds from runs that were aimed at a higher one.")
]

SHOWN = ("model", "threshold", "attack", "images", "unsuccessful", "median", "mean", "median_raw", "forwards")


def minimal(
    model: options.Model,
    data: options.Data,
    attack: Attacks = "annealed-border,annealed-border-plain",
    enough: Shares = "0.99",
    norm: options.Norm = None,
    target: options.Target = None,
    reference: Reference = "truth",
    one_trajectory: OneTrajectory = False,
    out: options.Out = None,
    limit: options.Limit = None,
    batch_size: options.BatchSize = 1,
    fold: options.Fold = False,
    device: options.Device = "cpu",
    seed: options.Seed = 0,
    keep_images: options.KeepImages = False,
    workers: options.Workers = 0,
) -> None:
    """Search the smallest change that breaks a model on every image; table, curves and page.

    Example: segstress minimal --model compact:cnn-normal --data shapes:test --attack annealed-border,fmn-auto --limit 8
    """
    from ..evaluation import evaluate
    from ..evaluation.minimal_report import report
    from ..planning import read_plan
    from ..planning.minimal import specs
    from ..runtime import RunOptions
    from .progress import watch

    shares = [float(share) for share in enough.split(",")]
    asked = specs(attack.split(","), shares, norm=norm, target=target, reference=reference)
    plan = read_plan(
        {
            "models": model,
            "data": data,
            "perturbations": asked,
            "limit": limit,
            "seed": seed,
            "keep_images": keep_images,
            "numerics": {"device": device, "batch_size": batch_size, "fold": fold},
        }
    )
    with watch(console, "searching") as progress:
        done = evaluate(plan, out or Path("runs/minimal"), RunOptions(workers), progress)
    summed, page = report(done.folder, one_trajectory)
    _show(summed)
    console.print(f"Report: {page}", highlight=False, soft_wrap=True)
    if done.errors:
        console.print(f"{len(done.errors)} images could not be answered: {done.errors[0]}", highlight=False)
        raise typer.Exit(1)


def _show(summed: Figures) -> None:
    from ..reports.kit.export import show

    places = [place for place, column in enumerate(summed.columns) if column.key in SHOWN]
    table = Table(*(summed.columns[place].title for place in places), title=summed.title, title_justify="left")
    for row in summed.rows:
        table.add_row(*(show(row[place], summed.columns[place].kind) for place in places))
    console.print(table)
    console.print(summed.note, highlight=False)
