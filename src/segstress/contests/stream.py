"""A competition on a pool too large to keep maps of: predict, compare and select in one pass over its shards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from ..competition.thresholds import Bounds
from ..competition.vocabulary import Vocabulary
from ..core.files import write
from ..data import Dataset, datasets
from ..runtime import Progress, RunOptions, start_executor, write_table
from ..runtime.elsewhere import named_files
from .plan import Contest, Entrant
from .predict import open_pool
from .predictor import Predictor
from .select import Selection, conclude, fixed_bounds, keep_bounds, write_selection
from .store import INDEX
from .stream_total import StreamTotal
from .stream_work import StreamWork, stem_of

UNIT = 1024  # images of a unit at least; a shard is never cut
FOLD = 64  # units whose totals lie beside the whole one at most
FIRST_PASS = "scale: pool asks for quartiles of the pool itself, so every model goes through it twice"


def stream(
    folder: Path,
    contest: Contest,
    entrants: list[Entrant],
    vocabulary: Vocabulary,
    progress: Progress,
    run_options: RunOptions,
) -> tuple[Selection, StreamTotal, list[str]]:
    """Go through the pool, and write down the selection and an index of the candidates alone."""
    pool = json.dumps(datasets.spec(contest.data()), sort_keys=True)
    predictor, plugins = Predictor(vocabulary, contest.numerics), tuple(contest.plugins)

    def work(bounds: Bounds | None) -> StreamWork:
        return StreamWork(folder, pool, tuple(entrants), predictor, contest.metric, contest.rule, bounds, plugins)

    if contest.scale == "pool":
        progress.warn(FIRST_PASS)
        bounds = _pass(work(None), progress, run_options)[0].shares.bounds()
    else:
        bounds = fixed_bounds(contest, len(entrants), vocabulary)
    total, faults = _pass(work(bounds), progress, run_options)
    keep_bounds(folder, bounds)
    hashes = {image: row["hash"] for image, row in total.rows.items()}
    selection = conclude(total.candidates, hashes, folder, entrants, vocabulary)
    rows = sorted(total.rows.values(), key=lambda row: str(row["image"]))
    write_table(folder / "index.parquet", pa.Table.from_pylist(rows, INDEX))
    write_selection(folder, selection, entrants, vocabulary)
    return selection, total, faults


def _pass(work: StreamWork, progress: Progress, run_options: RunOptions) -> tuple[StreamTotal, list[str]]:
    """Let the workers go through what is left of the pool; their totals are joined to one file as they come."""
    whole, faults, beside = work.path("whole"), list[str](), list[str]()
    total = work.empty().load(whole.read_bytes()) if whole.exists() else work.empty()

    def fold() -> None:
        for stem in beside:
            total.join(work.empty().load(work.path(stem).read_bytes()))
        write(whole, total.to_bytes())
        for stem in beside:
            work.path(stem).unlink()
        beside.clear()

    def left() -> Iterator[tuple[str, ...]]:
        for names in _units(open_pool(work.pool)):
            stem = stem_of(names)
            if stem in total.done:
                progress.advance(len(names))
            elif work.path(stem).exists():  # a kill came before it was joined
                beside.append(stem)
                progress.advance(len(names))
            else:
                yield names

    progress.begin(sum(map(len, open_pool(work.pool).stretches())))
    specs = [entrant.spec for entrant in work.entrants]
    executor = start_executor(
        run_options, work.predictor.numerics.threads, progress.warn, named_files([work.plugins, *specs])
    )
    for stem, number, messages in executor.map(work, left()):
        beside.append(stem)
        faults += messages[: max(0, UNIT - len(faults))]
        progress.advance(number)
        if len(beside) >= FOLD:
            fold()
    fold()
    return total, faults


def _units(data: Dataset) -> Iterator[tuple[str, ...]]:
    """Yield shards in their order, small ones together."""
    names: list[str] = []
    for stretch in data.stretches():
        names += stretch
        if len(names) >= UNIT:
            yield tuple(names)
            names = []
    if names:
        yield tuple(names)
