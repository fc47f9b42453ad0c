"""The command `minimal`: how small a change breaks a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.table import Table
from typer import Option

from . import options
from .bundles import EvaluationOptions
from .console import console, show_grid
from .running import Presented, carry_out, records

if TYPE_CHECKING:
    from ..reports.kit.table import Table as Figures

# Rooms are imported inside the command: they bring torch, and `segstress --help` should not wait for it.
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
    common: EvaluationOptions,
    attack: Attacks = "annealed-border,annealed-border-plain",
    enough: Shares = "0.99",
    norm: options.Norm = None,
    target: options.Target = None,
    reference: Reference = "truth",
    one_trajectory: OneTrajectory = False,
) -> None:
    """Search the smallest change that breaks a model on every image; table, curves and page.

    Example: segstress minimal --model compact:cnn-normal --data shapes:test --attack annealed-border,fmn-auto --limit 8
    """
    from ..core.shares import parse_share
    from ..planning.minimal import specs

    shares = [parse_share(share) for share in enough.split(",")]
    searches = specs(attack.split(","), shares, norm=norm, target=target, reference=reference)
    plan = common.plan(models=model, data=data, perturbations=searches)
    present = partial(present_searches, one_trajectory=one_trajectory)
    carry_out(plan, common, present, folder=common.folder("minimal"), doing="searching")


def present_searches(folder: Path, one_trajectory: bool = False) -> Presented:
    """Show what was found in a folder, and write its page."""
    from ..evaluation.minimal_report import report

    summed, page = report(folder, one_trajectory)
    _show(summed)
    return Presented(page, records(summed))


def _show(summed: Figures) -> None:
    from ..reports.kit.export import show

    shown = [index for index, column in enumerate(summed.columns) if column.key in SHOWN]
    table = Table(*(summed.columns[index].title for index in shown), title=summed.title, title_justify="left")
    for row in summed.rows:
        table.add_row(*(show(row[index], summed.columns[index].kind) for index in shown))
    show_grid(table)
    console.print(summed.note)
