"""What the commands of the competition print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from .console import LITERAL, console, show_grid, show_line
from .mad_options import JudgeName

if TYPE_CHECKING:
    from ..runtime import RunOptions


def hold(competition: Any, run_options: RunOptions) -> tuple[dict[str, Any], list[str]]:
    """Take every step up to the selection, each with its own progress; the selection as data, and what went wrong."""
    from .progress import watch

    if not (competition.folder / "index.parquet").exists():
        with watch(console, "indexing") as progress:
            competition.index(progress, run_options)
    with watch(console, "predicting") as progress:
        faults: list[str] = competition.predict(progress, run_options)
    with watch(console, "comparing") as progress:
        competition.compare(progress, run_options)
    return show_selection(competition.select()), faults


def find_ranking(
    competition: Any, judge: JudgeName, draws: int, run_options: RunOptions, metrics: Sequence[str] = ()
) -> Any:
    """Return the ranking, with that of every other metric beside it."""
    from .progress import watch

    ranking = competition.rank(judge.value, draws)
    otherwise = {}
    for metric in metrics:
        with watch(Console(stderr=True, **LITERAL), f"comparing by {metric}") as progress:  # stdout may be for JSON
            otherwise[metric] = competition.rank_by(metric, judge.value, draws, progress, run_options)
    return replace(ranking, otherwise=otherwise)


def show_ranking(competition: Any, ranking_report: Any, as_json: bool = False) -> None:
    """Write the report, and print places with their bands, or every figure as JSON."""
    from ..contests.report import report, summary

    page = report(competition, ranking_report)
    if competition.caveat:
        Console(stderr=True, **LITERAL).print(competition.caveat, soft_wrap=True)
    if as_json:
        typer.echo(json.dumps(summary(ranking_report), indent=1))
        return
    table = Table("model", *ranking_report.rankings, title="Place (band) and strength", title_justify="left")
    for model in ranking_report.order:
        cells = [
            f"{ranking.rank[model]} ({ranking.best[model]} to {ranking.worst[model]})  {ranking.strengths[model]:+.3f}"
            for ranking in ranking_report.rankings.values()
        ]
        table.add_row(ranking_report.names[model], *cells)
    show_grid(table)
    for metric, other in ranking_report.otherwise.items():
        correlations = ", ".join(
            f"{name} {spearman:.3f}" for name, (spearman, _) in ranking_report.correlation(other).items()
        )
        console.print(f"Spearman's correlation with images selected by {metric}: {correlations}")
    for note in ranking_report.notes:
        show_line("note:", note, "yellow")
    console.print(f"Report: {page}", soft_wrap=True)


def show_index(index: Any) -> dict[str, Any]:
    """Tell how many images can be used, which are copies, which cannot be read; the same as data."""
    names, statuses, messages = (index[key].to_pylist() for key in ("name", "status", "message"))
    counted = {status: statuses.count(status) for status in ("ok", "duplicate", "error")}
    for status, number in counted.items():
        console.print(f"{status}: {number} images")
    rows = zip(names, statuses, messages, strict=True)
    unreadable = [f"{name}: {message}" for name, status, message in rows if status == "error"]
    return {"images": counted, "unreadable": unreadable}


def show_selection(selection: Any) -> dict[str, Any]:
    """Tell how many images were chosen, and for how many groups none was found; the same as data."""
    console.print(
        f"{len(selection.images)} images, chosen {len(selection.members)} times; {len(selection.empty)} groups empty",
    )
    members = [member._asdict() for member in selection.members]
    return {"images": list(selection.images), "members": members, "empty": len(selection.empty)}
