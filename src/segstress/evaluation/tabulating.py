"""What the tables of a cell say of each other: no model is needed to see that they disagree."""

from __future__ import annotations

from collections.abc import Iterator

from ..metrics.counts import ACTUAL, HITS
from ..results.run import Run
from ..runtime import Cell
from .repeating import agree
from .worker import finishers

COLUMNS = ("image", "goal", "status", "finisher", "correct", "valid", "damage")
CLEAN_ZONES = ("all", "foreground")  # which every cell counts alike


def disagreements(run: Run, cell: Cell) -> Iterator[str]:
    """Say which images' rows do not follow from their counts, or are spared without a reason."""
    ids = run.ids(cell, "ok")
    counts = run.counts(cell, ids)
    position = {id_: number for number, id_ in enumerate(ids)}
    done: dict[str, dict[str, str]] = {}
    columns = (run.images(cell)[name].to_pylist() for name in COLUMNS)
    for id_, goal, status, key, *stored in zip(*columns, strict=True):
        correct, valid, _ = stored
        if status == "ok" and valid is not None:
            table = counts.get((goal, "all", "perturbed"))
            right, total = (0, 0) if table is None else table[position[id_]][:, [HITS, ACTUAL]].sum(0).tolist()
            if stored != [right, total, 1 - right / max(total, 1)]:
                yield f"{id_} ({goal}): its row has {correct} of {valid} pixels right, its counts {right}"
        elif key:
            if key not in done:
                done[key] = _finished(run, key)
            if id_ not in done[key]:
                yield f"{id_}: spared because of {key}, which did not finish it"


def unlike_clean(run: Run, cell: Cell, clean: Cell, *, exact: bool) -> Iterator[str]:
    """Yield the images whose clean counts are others than in the clean cell."""
    ids = run.ids(cell, "ok")
    base, own = run.counts(clean, ids), run.counts(cell, ids)
    for (_, zone, state), table in own.items():
        before = base.get(("any", zone, "perturbed")) if state == "clean" and zone in CLEAN_ZONES else None
        if before is not None:
            rows = zip(ids, before, table, strict=True)
            yield from (id_ for id_, one, other in rows if other.any() and not agree(one, other, exact=exact))


def _finished(run: Run, key: str) -> dict[str, str]:
    """Return the images that a cell has finished."""
    cell = next((cell for cell in run.cells if cell.key == key), None)
    return {} if cell is None else finishers(key, run.images(cell), run.plan.done_at)
