"""What the commands of the competition print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from .console import console
from .mad_options import JudgeName


def hold(competition: Any, workers: int) -> list[str]:
    """Every step up to the selection, each with its own progress; what went wrong."""
    from .progress import watch

    if not (competition.folder / "index.parquet").exists():
        with watch(console, "indexing") as progress:
            competition.index(progress, workers)
    with watch(console, "predicting") as progress:
        faults: list[str] = competition.predict(progress, workers)
    with watch(console, "comparing") as progress:
        competition.compare(progress, workers)
    show_selection(competition.select())
    return faults


def find_ranking(competition: Any, judge: JudgeName, draws: int, metrics: Sequence[str] = (), workers: int = 0) -> Any:
    """The standing, with that of every other metric beside it."""
    from .progress import watch

    ranking = competition.rank(judge.value, draws)
    otherwise = {}
    for metric in metrics:
        with watch(Console(stderr=True), f"comparing by {metric}") as progress:  # stdout may be for JSON
            otherwise[metric] = competition.rank_by(metric, judge.value, draws, progress, workers)
    return replace(ranking, otherwise=otherwise)


def show_ranking(competition: Any, standing: Any, as_json: bool = False) -> None:
    """Write the report, and print places with their bands, or every figure as JSON."""
    from ..contests.report import report, summary

    page = report(competition, standing)
    if as_json:
        typer.echo(json.dumps(summary(standing), indent=1))
        return
    table = Table("model", *standing.rankings, title="Place (band) and strength", title_justify="left")
    for model in standing.order:
        cells = [
            f"{ranking.rank[model]} ({ranking.best[model]} to {ranking.worst[model]})  {ranking.strengths[model]:+.3f}"
            for ranking in standing.rankings.values()
        ]
        table.add_row(standing.names[model], *cells)
    console.print(table)
    for metric, other in standing.otherwise.items():
        correlations = ", ".join(
            f"{name} {spearman:.3f}" for name, (spearman, _) in standing.correlation(other).items()
        )
        console.print(f"Spearman's correlation with images selected by {metric}: {correlations}", highlight=False)
    for note in standing.notes:
        console.print(f"[yellow]note:[/yellow] {note}", highlight=False, soft_wrap=True)
    console.print(f"Report: {page}", highlight=False, soft_wrap=True)


def show_index(found: Any) -> None:
    """How many images can be used, which are copies, which cannot be read."""
    names, statuses, messages = (found[key].to_pylist() for key in ("name", "status", "message"))
    for status in ("ok", "duplicate", "error"):
        console.print(f"{status}: {statuses.count(status)} images", highlight=False)
    for name, status, message in zip(names, statuses, messages, strict=True):
        if status == "error":
            console.print(f"[red]error:[/red] {name}: {message}", highlight=False, soft_wrap=True)


def show_selection(selection: Any) -> None:
    """How many images were chosen, and for how many groups none was found."""
    console.print(
        f"{len(selection.images)} images in {len(selection.members)} places; {len(selection.empty)} groups are empty",
        highlight=False,
    )
