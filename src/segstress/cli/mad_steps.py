"""The steps of a competition up to the selection, each a command; and `add`, which takes them for more models."""

from __future__ import annotations

from typing import Any

from . import mad_options as own
from . import options
from .bundles import WorkerOptions
from .console import console
from .mad_console import hold, show_index, show_selection
from .running import conclude


def index(
    pool: own.Pool,
    model: options.Model,
    out: own.Out,
    contest_options: own.ContestOptions,
    common: own.ModelStepOptions,
    part: options.Part = "",
) -> None:
    """Begin a competition: look at every image of the pool, mark copies and unreadable files.

    Example: segstress mad index --pool "folder:photos?images=.&masks=none" --model a --model b --out runs/mad
    """
    from ..contests.compete import begin
    from ..contests.plan import read_contest
    from .progress import watch

    contest = read_contest(contest_options.settings(pool, model), common.changes())
    run_options = common.options(part=part)
    competition = begin(contest, out, run_options)
    with watch(console, "indexing") as progress:
        table = competition.index(progress, run_options)
    counted: dict[str, Any] = {"complete": False} if table is None else {"complete": True, **show_index(table)}
    conclude({"folder": str(out), **counted}, common.as_json, counted.get("unreadable", ()))


def stream(
    pool: own.Pool,
    model: options.Model,
    out: own.Out,
    contest_options: own.ContestOptions,
    common: own.ModelStepOptions,
    part: options.Part = "",
) -> None:
    """Predict, compare and select in one pass over a pool too large to keep maps of.

    Only candidates, histograms and counters are kept. --scale pool asks for quartiles of the pool itself: two passes.
    Then go on with segstress mad predict, which keeps maps of the candidates alone, and judge, export or rank.

    Example: segstress mad stream --pool tar:shards --scale none --model a --model b --out runs/web
    """
    from ..contests.compete import begin
    from ..contests.plan import read_contest
    from .progress import watch

    contest = read_contest(contest_options.settings(pool, model), common.changes())
    run_options = common.options(part=part)
    competition = begin(contest, out, run_options, streamed=True)
    with watch(console, "streaming") as progress:
        selection, total, faults = competition.stream(progress, run_options)
    console.print(", ".join(f"{name}: {number:,}" for name, number in sorted(total.counters.items())), soft_wrap=True)
    selected = show_selection(selection) if selection else {"complete": False}
    earlier = [f"{name}: {number}" for name, number in total.counters.items() if name != "images"]  # before a stop
    conclude({"folder": str(out), "counters": total.counters, **selected}, common.as_json, faults or earlier)


def predict(
    folder: own.Folder,
    common: own.ModelStepOptions,
    retry_errors: options.RetryErrors = False,
    part: options.Part = "",
) -> None:
    """Let every model predict every image of the pool; label maps are kept.

    Example: segstress mad predict runs/mad
    """
    from ..contests.compete import begin
    from ..contests.plan import read_contest
    from .progress import watch

    run_options = common.options(retry_errors=retry_errors, part=part)
    with watch(console, "predicting") as progress:
        competition = begin(read_contest(folder, common.changes()), folder, run_options)
        faults = competition.predict(progress, run_options)
    conclude({"folder": str(folder)}, common.as_json, faults)


def compare(folder: own.Folder, common: WorkerOptions, part: options.Part = "") -> None:
    """Compute how far every pair of models agrees on every image.

    Example: segstress mad compare runs/mad
    """
    from ..contests.compete import reopen
    from .progress import watch

    with watch(console, "comparing") as progress:
        competition = reopen(folder, {"plugins": common.plugin or []})
        competition.compare(progress, common.options(part=part))
    result = {"folder": str(folder), "metric": competition.contest.metric, "models": competition.names}
    conclude(result, common.as_json)


def select(folder: own.Folder, as_json: options.Json = False, plugin: options.Plugins = None) -> None:
    """Choose the images on which the models disagree most.

    Example: segstress mad select runs/mad
    """
    from ..contests.compete import reopen

    conclude(show_selection(reopen(folder).select()), as_json)


def add(
    folder: own.Folder,
    model: options.Model,
    common: own.ModelStepOptions,
    among_candidates: own.AmongCandidates = False,
    retry_errors: options.RetryErrors = False,
) -> None:
    """Let more models compete; only their own maps and pairs are computed.

    A pool that was streamed keeps no maps, so all models go through it again, unless --among-candidates is given.

    Example: segstress mad add runs/mad --model compact:transformer-normal
    """
    from ..contests.compete import add as add_models
    from .progress import watch

    run_options = common.options(retry_errors=retry_errors)
    competition = add_models(folder, model, common.changes(), run_options)
    if among_candidates:
        with watch(console, "predicting and comparing") as progress:
            selection, faults = competition.among_candidates(progress, run_options)
        console.print(competition.caveat, soft_wrap=True)
        selected = show_selection(selection)
    elif competition.streamed:
        with watch(console, "streaming") as progress:
            streamed, _, faults = competition.stream(progress, run_options)
        selected = show_selection(streamed) if streamed else {"complete": False}
    else:
        selected, faults = hold(competition, run_options)
    conclude({"folder": str(folder), "caveat": competition.caveat, **selected}, common.as_json, faults)
