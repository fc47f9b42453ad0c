"""Commands of the competition: the ranking, a demonstration, and all others in the order of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from typer import Option

from . import mad_options as own
from . import mad_people, mad_steps, options
from .bundles import WorkerOptions, bundled
from .console import show_grid, show_json
from .mad_console import find_ranking, hold, show_ranking
from .running import show_errors

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Find the images on which models disagree, rank the models with few labels. Begin with: segstress mad demo.",
)


def rank(
    folder: own.Folder,
    common: WorkerOptions,
    judge: own.Judge = own.JudgeName.masks,
    clean: own.Clean = None,
    also: own.Also = None,
    draws: own.Draws = 1000,
) -> None:
    """Rank the models, with intervals, and write the report.

    Example: segstress mad rank runs/mad --judge masks --also fwiou --also mpa
    """
    from ..contests.compete import reopen
    from ..contests.report import clean_scores

    competition = reopen(folder, {"plugins": common.plugin or []})
    ranking = find_ranking(competition, judge, draws, common.options(), also or ())
    if clean is not None:
        ranking = replace(ranking, clean=clean_scores(clean))
    show_ranking(competition, ranking, common.as_json)


def correlate(folders: options.Folders, as_json: options.Json = False, plugin: options.Plugins = None) -> None:
    """Rank correlation between competitions, such as those by other metrics, with the first.

    Example: segstress mad correlate runs/mad-miou runs/mad-fwiou
    """
    from ..contests.report import compare_rankings

    agreement = compare_rankings(folders)
    if as_json:
        show_json(agreement)
        return
    table = Table("competitions", "ranking", "Spearman")
    for pair, correlations in agreement.items():
        for name, value in correlations.items():
            table.add_row(pair, name, f"{value:.3f}")
    show_grid(table)


def demo(
    common: own.ModelStepOptions,
    out: own.Out = Path("runs/mad-demo"),
    count: Annotated[int, Option("--count", min=10, help="Images of the pool.")] = 120,
    shard_size: options.ShardSize = 0,
    retry_errors: options.RetryErrors = False,
) -> None:
    """Hold a whole competition of the embedded models on a shifted pool, scored by its masks; nothing is downloaded.

    Example: segstress mad demo
    """
    from ..contests.compete import begin
    from ..contests.demo import contest

    run_options = common.options(retry_errors=retry_errors)
    competition = begin(contest(count, {**common.changes(), "shard_size": shard_size}), out, run_options)
    _, faults = hold(competition, run_options)
    ranking = find_ranking(competition, own.JudgeName.masks, 1000, run_options, ("fwiou", "mpa"))
    show_ranking(competition, ranking, common.as_json)
    show_errors(faults)


COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "index": mad_steps.index,
    "stream": mad_steps.stream,
    "predict": mad_steps.predict,
    "compare": mad_steps.compare,
    "select": mad_steps.select,
    "export": mad_people.export,
    "import": mad_people.import_,
    "judge": mad_people.judge,
    "rank": rank,
    "correlate": correlate,
    "add": mad_steps.add,
}
for name, command in COMMANDS.items():
    app.command(name)(bundled(command))
