"""Commands of the competition, in the order of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from typer import Option

from . import mad_options as own
from . import mad_people, options
from .bundles import WorkerOptions, bundled
from .console import console, show_json
from .mad_console import find_ranking, hold, show_index, show_ranking, show_selection
from .running import show_errors

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Find the images on which models disagree, rank the models with few labels. Begin with: segstress mad demo.",
)


def index(
    pool: own.Pool,
    model: options.Model,
    out: own.Out,
    asked: own.ContestOptions,
    common: WorkerOptions,
    shard_size: options.ShardSize = 0,
    part: options.Part = "",
) -> None:
    """Begin a competition: look at every image of the pool, mark copies and unreadable files.

    Example: segstress mad index --pool folder:photos?images=.&masks=none --model a --model b --out runs/mad
    """
    from ..contests.compete import begin
    from ..contests.plan import read_contest
    from .progress import watch

    competition = begin(read_contest(asked.settings(pool, model) | {"shard_size": shard_size}), out, part)
    with watch(console, "indexing") as progress:
        table = competition.index(progress, replace(common.options(), part=part))
    if table is not None:
        show_index(table)


def stream(
    pool: own.Pool, model: options.Model, out: own.Out, asked: own.ContestOptions, common: WorkerOptions
) -> None:
    """Predict, compare and select in one pass over a pool too large to keep maps of.

    Only candidates, histograms and counters are kept. --scale pool asks for quartiles of the pool itself: two passes.
    Then go on with segstress mad predict, which keeps maps of the candidates alone, and judge, export or rank.

    Example: segstress mad stream --pool tar:shards --scale none --model a --model b --out runs/web
    """
    from ..contests.compete import begin
    from ..contests.plan import read_contest
    from .progress import watch

    competition = begin(read_contest(asked.settings(pool, model)), out, streamed=True)
    with watch(console, "streaming") as progress:
        selection, total, faults = competition.stream(progress, common.options())
    console.print(", ".join(f"{name}: {number:,}" for name, number in sorted(total.counters.items())), soft_wrap=True)
    show_selection(selection)
    earlier = [f"{name}: {number}" for name, number in total.counters.items() if name != "images"]  # before a stop
    show_errors(faults or earlier)


def predict(
    folder: own.Folder,
    common: WorkerOptions,
    retry_errors: options.RetryErrors = False,
    part: options.Part = "",
) -> None:
    """Let every model predict every image of the pool; label maps are kept.

    Example: segstress mad predict runs/mad
    """
    from ..contests.compete import begin
    from ..contests.plan import read_contest
    from .progress import watch

    run_options = replace(common.options(), retry_errors=retry_errors, part=part)
    with watch(console, "predicting") as progress:
        faults = begin(read_contest(folder), folder, part).predict(progress, run_options)
    show_errors(faults)


def compare(folder: own.Folder, common: WorkerOptions, part: options.Part = "") -> None:
    """Compute how far every pair of models agrees on every image.

    Example: segstress mad compare runs/mad
    """
    from ..contests.compete import reopen
    from .progress import watch

    with watch(console, "comparing") as progress:
        reopen(folder).compare(progress, replace(common.options(), part=part))


def select(folder: own.Folder, as_json: options.Json = False) -> None:
    """Choose the images on which the models disagree most.

    Example: segstress mad select runs/mad
    """
    from ..contests.compete import reopen

    selection = reopen(folder).select()
    show_selection(selection)
    if as_json:
        show_json({"images": list(selection.images), "members": [member._asdict() for member in selection.members]})


def rank(
    folder: own.Folder,
    judge: own.Judge = own.JudgeName.masks,
    clean: own.Clean = None,
    also: own.Also = None,
    draws: own.Draws = 1000,
    as_json: options.Json = False,
    workers: options.Workers = 0,
) -> None:
    """Rank the models, with intervals, and write the report.

    Example: segstress mad rank runs/mad --judge masks --also fwiou --also mpa
    """
    from ..contests.compete import reopen
    from ..contests.report import clean_scores
    from ..runtime import RunOptions

    competition = reopen(folder)
    ranking = find_ranking(competition, judge, draws, RunOptions(workers), also or ())
    if clean is not None:
        ranking = replace(ranking, clean=clean_scores(clean))
    show_ranking(competition, ranking, as_json)


def correlate(folders: options.Folders) -> None:
    """Rank correlation between competitions, such as those by other metrics, with the first.

    Example: segstress mad correlate runs/mad-miou runs/mad-fwiou
    """
    from ..contests.report import compare_rankings

    table = Table("competitions", "ranking", "Spearman")
    for pair, correlations in compare_rankings(folders).items():
        for name, value in correlations.items():
            table.add_row(pair, name, f"{value:.3f}")
    console.print(table)


def add(
    folder: own.Folder,
    model: options.Model,
    common: WorkerOptions,
    plugin: options.Plugins = None,
    among_candidates: own.AmongCandidates = False,
) -> None:
    """Let more models compete; only their own maps and pairs are computed.

    A pool that was streamed keeps no maps, so all models go through it again, unless --among-candidates is given.

    Example: segstress mad add runs/mad --model compact:transformer-normal
    """
    from ..contests.compete import add as add_models
    from .progress import watch

    competition, run_options = add_models(folder, model, plugin or ()), common.options()
    if among_candidates:
        with watch(console, "predicting and comparing") as progress:
            selection, faults = competition.among_candidates(progress, run_options)
        console.print(competition.caveat, soft_wrap=True)
        show_selection(selection)
    elif competition.streamed:
        with watch(console, "streaming") as progress:
            selection, _, faults = competition.stream(progress, run_options)
        show_selection(selection)
    else:
        faults = hold(competition, run_options)
    show_errors(faults)


def demo(
    out: own.Out = Path("runs/mad-demo"),
    count: Annotated[int, Option("--count", min=10, help="Images of the pool.")] = 120,
    as_json: options.Json = False,
    workers: options.Workers = 0,
) -> None:
    """Hold a whole competition of the embedded models on a shifted pool, scored by its masks; nothing is downloaded.

    Example: segstress mad demo
    """
    from ..contests.compete import begin
    from ..contests.demo import contest
    from ..runtime import RunOptions

    competition, run_options = begin(contest(count), out), RunOptions(workers)
    faults = hold(competition, run_options)
    ranking = find_ranking(competition, own.JudgeName.masks, 1000, run_options, ("fwiou", "mpa"))
    show_ranking(competition, ranking, as_json)
    show_errors(faults)


COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "index": index,
    "stream": stream,
    "predict": predict,
    "compare": compare,
    "select": select,
    "export": mad_people.export,
    "import": mad_people.import_,
    "judge": mad_people.judge,
    "rank": rank,
    "correlate": correlate,
    "add": add,
}
for name, command in COMMANDS.items():
    app.command(name)(bundled(command))
