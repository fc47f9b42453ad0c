"""Commands that look at what is there: report, verify, list."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from . import options
from .console import console, show_summary

Json = Annotated[bool, typer.Option("--json", help="Print every figure as JSON and write nothing.")]


def report(
    runs: options.Folders, as_json: Json = False, out: options.Out = None, plugin: options.Plugins = None
) -> None:
    """Write the report of one or more runs: page, tables (CSV, LaTeX), figures (SVG, PDF), gallery.

    Example: segstress report runs/demo --json
    """
    from ..evaluation.report import report, studies
    from ..reports.study.summary import summary

    evaluated = studies(runs)
    if as_json:
        typer.echo(json.dumps(summary(evaluated), indent=1))
        return
    page = report(runs, out, found=evaluated)
    show_summary(summary(evaluated))
    console.print(f"Report: {page}", highlight=False, soft_wrap=True)


def verify(runs: options.Folders, plugin: options.Plugins = None) -> None:
    """Judge stored results again: ball, box, region and prediction; also after rounding to 8 bits.

    Example: segstress verify runs/demo
    """
    from ..evaluation.verify import verify

    verdicts = [verdict for run in runs for verdict in verify(run)]
    table = Table("cell", "judged again", "attacked again", "accuracy", "at 8 bits", "verdict")
    for verdict in verdicts:
        accuracies = (f"{100 * value:.2f}" for value in (verdict.accuracy, verdict.accuracy_8bit))
        words = "sound" if verdict.sound else f"{len(verdict.faults)} faults"
        table.add_row(verdict.cell, str(verdict.checked), str(verdict.repeated), *accuracies, words)
    console.print(table)
    for verdict in verdicts:
        for fault in verdict.faults:
            console.print(f"[red]fault:[/red] {verdict.cell}: {fault}", highlight=False, soft_wrap=True)
    if not all(verdict.sound for verdict in verdicts):
        raise typer.Exit(1)


class Sort(StrEnum):
    """What can be listed."""

    attacks = "attacks"
    losses = "losses"
    corruptions = "corruptions"
    models = "models"
    datasets = "datasets"
    regions = "regions"
    targets = "targets"
    batteries = "batteries"
    metrics = "metrics"
    concordances = "concordances"
    formats = "formats"
    tables = "tables"
    figures = "figures"


def list_names(sort: Annotated[Sort, typer.Argument(help="What to list.")], plugin: options.Plugins = None) -> None:
    """List what can be named, with a line on each.

    Example: segstress list attacks
    """
    from .listing import listing

    table = Table("name", "what it is", box=None)
    for name, about in listing(sort.value):
        table.add_row(name, about)
    console.print(table)
