"""The command `report`: the page of runs, or of a training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from . import options
from .console import console, show_json, show_summary


def report(
    runs: options.Folders, as_json: options.Json = False, out: options.Out = None, plugin: options.Plugins = None
) -> None:
    """Write the report of one or more runs, or of a training: page, tables, figures (SVG, PDF), gallery.

    With --json every figure is printed instead, and nothing is written.

    Exit code 1 where answers are missing, so that a figure is a range, or where stored files were changed.

    Example: segstress report runs/demo --json
    """
    from ..evaluation.report import report, studies
    from ..fitting.report import is_training
    from ..reports.study.summary import summary

    if any(map(is_training, runs)):
        _report_training(runs, as_json, out)
        return
    evaluated = studies(runs)
    figures = summary(evaluated)
    if as_json:
        typer.echo(json.dumps(figures, indent=1))
    else:
        page = report(runs, out, known=evaluated)
        show_summary(figures)
        console.print(f"Report: {page}", soft_wrap=True)
    if not all(run["complete"] and not run["damage"] for run in figures["runs"]):
        raise typer.Exit(1)


def _report_training(runs: Sequence[Path], as_json: bool, out: Path | None) -> None:
    """Write the page of a training, or print its epochs."""
    from ..fitting.report import read_record, report

    if len(runs) > 1:
        raise typer.BadParameter("a training has a page of its own; give one folder at a time")
    if as_json:
        record = read_record(runs[0])
        show_json({"epochs": record.epochs, "weights": record.weights, "history": record.history, "card": record.card})
        return
    console.print(f"Report: {report(runs[0], out)}", soft_wrap=True)
