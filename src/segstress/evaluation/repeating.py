"""Answers made again, in the same batches as at first, and compared row by row with those that are stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..metrics.counts import HITS
from ..results.run import Run
from ..runtime import SCHEMAS, Cell, Shard
from .worker import Worker

SLACK = 0.005  # share of pixels that may differ where other rounding is allowed
APART = ("message", "batch")  # columns of words and of how it ran

Tally = Mapping[str, np.ndarray]  # goal -> counts of the perturbed prediction (classes, 3), all valid pixels


@dataclass(frozen=True)
class Again:
    """A cell whose answers can be made again."""

    run: Run
    cell: Cell
    worker: Worker
    exact: bool  # whether equality is asked for, not only agreement up to rounding

    @cached_property
    def batches(self) -> list[tuple[str, list[str]]]:
        """The images that met the model together, with the shard in which they lie."""
        return self.run.store.together(self.cell)

    def differences(self, ids: Collection[str]) -> tuple[list[str], int]:
        """Answer these images again, with all that met the model with them; what differs, and how many they are."""
        selected = [(stem, batch) for stem, batch in self.batches if not set(ids).isdisjoint(batch)]
        problems = [problem for stem, batch in selected for problem in self._repeat(stem, batch)]
        return problems, len({id_ for _, batch in selected for id_ in batch})

    def _repeat(self, stem: str, batch: Sequence[str]) -> Iterator[str]:
        again = _tables(self.worker.evaluate(self.cell, batch))
        stored = {name: self._stored(name, stem, batch) for name in SCHEMAS}
        failed, failing = (set(_with_status(tables["images"], "error")) for tables in (stored, again))
        exact = self.exact and failed == failing  # else a fault that has passed left its images to meet the model alone
        classes = len(self.cell.dataset_info["classes"])
        for id_ in batch:
            if id_ not in failed ^ failing:
                yield from _compare(id_, stored, again, classes, exact=exact)

    @cached_property
    def _shard(self) -> Callable[[str, str], pa.Table]:
        """The rows of a shard; remembered, since many batches lie in one that was joined."""
        return lru_cache(maxsize=len(SCHEMAS))(partial(self.run.store.shard, self.cell))

    def _stored(self, name: str, stem: str, batch: Sequence[str]) -> pa.Table:
        table = self._shard(name, stem)
        return table.filter(pc.is_in(table["image"], pa.array(batch)))


def _tables(shard: Shard) -> dict[str, pa.Table]:
    return {name: pa.Table.from_pylist(getattr(shard, name), schema) for name, schema in SCHEMAS.items()}


def _with_status(images: pa.Table, status: str) -> list[str]:
    ids: list[str] = images.filter(pc.equal(images["status"], status))["image"].to_pylist()
    return ids


def _compare(
    id_: str, stored: Mapping[str, pa.Table], again: Mapping[str, pa.Table], classes: int, *, exact: bool
) -> Iterator[str]:
    """Tell where one image was answered otherwise."""
    before, after = (tallies(_of(tables["counts"], id_), classes) for tables in (stored, again))
    named = False
    for goal in sorted(before.keys() | after.keys()):
        fault = differs(id_, goal, before, after, exact=exact)
        named |= bool(fault)
        yield from [fault] if fault else []
    if exact and not named:
        other = [name for name in SCHEMAS if _rows(_of(stored[name], id_)) != _rows(_of(again[name], id_))]
        yield from (f"{id_}: its rows in {name} are others than those found again" for name in other[:1])


def differs(id_: str, goal: str, before: Tally, after: Tally, *, exact: bool) -> str:
    """Say how the counts of one image and goal differ; nothing where they agree."""
    if goal not in before or goal not in after:
        return f"{id_} ({goal}): {'no' if goal not in before else 'only'} stored counts"
    if agree(before[goal], after[goal], exact=exact):
        return ""
    right, now = before[goal][:, HITS].sum(), after[goal][:, HITS].sum()
    return f"{id_} ({goal}): stored {right} pixels right, counted again {now}"


def agree(before: np.ndarray, after: np.ndarray, *, exact: bool) -> bool:
    """Tell whether two tables of counts (classes, 3) are equal, or as near as other rounding may leave them."""
    allowed = 0 if exact else SLACK * after[:, -1].sum()
    return bool(before.shape == after.shape and np.abs(after - before).max(initial=0) <= allowed)


def tallies(counts: pa.Table, classes: int, zone: str = "all", state: str = "perturbed") -> dict[str, np.ndarray]:
    """Return the counts of one image by goal: hits, predicted, actual for each class that occurs."""
    counts = counts.filter(pc.and_(pc.equal(counts["zone"], zone), pc.equal(counts["state"], state)))
    by_goal: dict[str, dict[int, tuple[int, int, int]]] = {}
    for row in counts.to_pylist():
        by_goal.setdefault(row["goal"], {})[row["class"]] = row["hits"], row["predicted"], row["actual"]
    return {goal: _dense(rows, classes) for goal, rows in by_goal.items()}


def _dense(rows: Mapping[int, tuple[int, int, int]], size: int) -> np.ndarray:
    dense = np.zeros((size, 3), dtype=np.int64)
    for klass, values in rows.items():
        dense[klass] = values
    return dense


def _of(table: pa.Table, id_: str) -> pa.Table:
    return table.filter(pc.equal(table["image"], id_))


def _rows(table: pa.Table) -> list[str]:
    """Return rows in a form in which equal ones are equal, undefined numbers too."""
    return sorted({repr(_words(row)) for row in table.to_pylist()})  # one that failed twice alike has two


def _words(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in row.items() if key not in APART]
