"""A competition on a pool too large to keep maps of: predict, compare and select in one pass over its shards."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from ..competition.thresholds import Bounds
from ..competition.vocabulary import Vocabulary
from ..core.files import write
from ..data import datasets
from ..runtime import Progress, RunOptions, start_executor, write_table
from ..runtime.elsewhere import named_files
from ..runtime.sharing import Sharing
from .plan import Contest, Entrant
from .predict import open_pool
from .predictor import Predictor
from .select import Selection, conclude, fixed_bounds, keep_bounds, write_selection
from .store import INDEX
from .stream_total import StreamTotal
from .stream_work import WHOLE, StreamUnit, StreamWork, units_of

NAMED = 1024  # faults at most
FOLD = 64  # units whose totals lie beside the whole one at most
FIRST_PASS = "scale: pool asks for quartiles of the pool itself, so every model goes through it twice"


def stream(
    folder: Path,
    contest: Contest,
    entrants: list[Entrant],
    vocabulary: Vocabulary,
    progress: Progress,
    run_options: RunOptions,
    sharing: Sharing,
) -> tuple[Selection | None, StreamTotal, list[str]]:
    """Go through the pool, and write down the selection and an index of the candidates alone.

    No selection is made where other processes that share the folder have shards left to do."""
    pool = json.dumps(datasets.spec(contest.data()), sort_keys=True)
    predictor, plugins = Predictor(vocabulary, contest.numerics), tuple(contest.plugins)

    def take(bounds: Bounds | None) -> tuple[StreamTotal, list[str]]:
        work = StreamWork(folder, pool, tuple(entrants), predictor, contest.metric, contest.rule, bounds, plugins)
        return _pass(work, progress, run_options, sharing)

    if contest.scale == "pool":
        progress.warn(FIRST_PASS)
        total, faults = take(None)
        if not sharing.complete:  # quartiles of a part of the pool would be wrong ones
            return None, total, faults
        bounds = total.shares.bounds()
    else:
        bounds = fixed_bounds(contest, len(entrants), vocabulary)
    total, faults = take(bounds)
    if not sharing.complete:
        return None, total, faults
    with sharing.turn():
        keep_bounds(folder, bounds)
        hashes = {image: row["hash"] for image, row in total.rows.items()}
        selection = conclude(total.candidates, hashes, folder, entrants, vocabulary)
        rows = sorted(total.rows.values(), key=lambda row: str(row["image"]))
        write_table(folder / "index.parquet", pa.Table.from_pylist(rows, INDEX))
        write_selection(folder, selection, entrants, vocabulary)
    return selection, total, faults


def _pass(
    work: StreamWork, progress: Progress, run_options: RunOptions, sharing: Sharing
) -> tuple[StreamTotal, list[str]]:
    """Let the workers go through what is left of the pool; their totals are joined to one file as they come."""
    faults, answered, step = list[str](), 0, f"stream-{work.question}"
    units = list(units_of(open_pool(work.pool)))

    def find() -> list[StreamUnit]:
        done = read_whole(work).done
        todo = [unit for unit in units if unit.stem not in done and not work.path(unit.stem).exists()]
        progress.begin(len(todo), unit="groups of shards")
        return todo

    specs = [entrant.spec for entrant in work.entrants]
    executor = start_executor(
        run_options, work.predictor.numerics.threads, progress.warn, named_files([work.plugins, *specs])
    )
    for todo in sharing.rounds(step, find, everything=work.bounds is None):
        for unit, messages in executor.map(work, todo):
            sharing.finish(step, unit)
            faults += messages[: max(0, NAMED - len(faults))]
            progress.advance(1)
            answered += 1
            if answered % FOLD == 0:
                _fold(work, sharing)
    return _fold(work, sharing), faults


def _fold(work: StreamWork, sharing: Sharing) -> StreamTotal:
    """Join the totals that lie beside the whole one to it; a kill at any moment counts nothing twice."""
    with sharing.turn():
        whole, beside = read_whole(work), work.beside()
        for path in beside:
            unit = work.empty().load(path.read_bytes())
            if whole.done.isdisjoint(unit.done):
                whole.join(unit)
        if beside:
            write(work.path(WHOLE), whole.to_bytes())
        for path in beside:
            path.unlink()
    return whole


def read_whole(work: StreamWork) -> StreamTotal:
    """Return what is joined so far."""
    path = work.path(WHOLE)
    return work.empty().load(path.read_bytes()) if path.exists() else work.empty()
