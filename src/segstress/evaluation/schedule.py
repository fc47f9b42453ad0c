"""A run in phases: units of what is missing, chains that spare finished images, an audit before the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core import digest, perturbations, seed_of
from ..data import datasets
from ..planning.battery_files import Battery
from ..planning.cost import affordable_passes
from ..planning.plan import Plan
from ..planning.sharding import images_per_unit
from ..results.run import Run
from ..results.studies import CHOICE, read_choices
from ..results.study import AttackSelection
from ..runtime import Cell, Store, write_json
from .audit import SelectionRule, choose
from .units import ChainUnits, Units
from .worker import finishers
from .worst_so_far import harms

FINISHED_BY = ("image", "goal", "status", "correct", "valid")  # columns that say which images a cell finished
SAMPLE = "sample"  # the phase on which the next one depends


@dataclass(frozen=True)
class Phase:
    """Cells and the images that they must answer before the next phase begins."""

    name: str
    cells: Sequence[Cell]
    ids: Callable[[Cell], list[str]]
    chained: bool  # whether later attacks of a battery are spared what earlier ones finished


def phases(plan: Plan, store: Store, cells: Sequence[Cell], workers: int) -> Iterator[Phase]:
    """Yield one phase; with an audit, all attacks on what they leave of a sample, then those worth it on the rest."""

    def everything(cell: Cell) -> list[str]:
        return plan.ids(datasets.build(cell.data))

    audited = plan.audited()
    if audited is None:
        yield Phase("all", cells, everything, chained=not plan.exhaustive)
        return

    def sample(cell: Cell) -> list[str]:
        ids = everything(cell)
        first = sorted(ids, key=lambda id_: seed_of(plan.seed, id_, "audit"))
        sampled = set(first[: audited.sample(len(ids))])
        return [id_ for id_ in ids if id_ in sampled]

    yield Phase(SAMPLE, cells, sample, chained=True)
    choices = _choices(plan, audited, store, cells, workers)
    dropped = {key for choice in choices for key in choice.dropped}
    yield Phase("rest", [cell for cell in cells if cell.key not in dropped], everything, chained=True)


def _choices(plan: Plan, audited: Battery, store: Store, cells: Sequence[Cell], workers: int) -> list[AttackSelection]:
    """Choose for each model, dataset and threat; once made it stands, so that a resumed run keeps to it."""
    path = store.folder / CHOICE
    if path.exists():
        return read_choices(store.folder)
    choices = []
    for chain in chains(plan, cells, chained=True):
        if len(chain) > 1:
            clean = next(c for c in cells if c.fingerprints == chain[0].fingerprints and c.is_clean)
            affordable = affordable_passes(plan, chain[0], workers) if plan.budget else float("inf")
            spend = audited.rest(len(plan.ids(datasets.build(clean.data))))
            rule = SelectionRule(audited.tolerance, audited.core, spend, affordable)
            choices.append(choose(Run(store.folder), clean, chain, rule))
    write_json(path, {"choices": [choice.plain() for choice in choices]})
    return choices


def chains(plan: Plan, cells: Sequence[Cell], *, chained: bool) -> list[list[Cell]]:
    """Group cells that may spare each other images: the battery under one threat, in order; others alone."""
    waves = [digest(perturbations.spec(change)) for change in plan.waves() if harms(change)] if chained else []
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        threat = [dict(cell.fingerprints), cell.perturbation.get("threat")]
        groups.setdefault(digest(threat) if digest(dict(cell.perturbation)) in waves else cell.key, []).append(cell)
    return list(groups.values())


def units(plan: Plan, store: Store, phase: Phase, size: int, shard_size: int, *, retry_errors: bool) -> Units:
    """Cut a phase into whole batches, `shard_size` images or as few more as that takes, and leave out what is there.

    Where that is 0, bytes and time decide, as the plan lets foresee them. Which images make a batch follows from their
    places in the phase alone, never from the size of a shard or from what is missing, since a result may depend on its
    batch by rounding; and which batches make a unit follows from theirs, so that processes sharing a run cut alike."""
    pending: list[ChainUnits] = []
    known: dict[str, list[str]] = {}  # ids by their data, so that all chains share them
    again = {"retry_errors": retry_errors, "retry_spared": not phase.chained}
    for chain in chains(plan, phase.cells, chained=phase.chained):
        data = chain[0].fingerprints["data"]
        ids = known[data] = known.get(data) or phase.ids(chain[0])
        wished = shard_size or images_per_unit(chain, ids, keep_images=plan.keep_images)
        missing = np.stack([store.unanswered(cell, ids, **again) for cell in chain])
        finished: dict[str, str] = {}
        for cell in reversed(chain[:-1]):
            finished |= finishers(cell.key, store.table(cell, "images", FINISHED_BY, ordered=False), plan.done_at)
        first = pending[-1].end if pending else 0
        pending.append(ChainUnits(chain, ids, missing, size, -(-wished // size), first, finished))
    return Units(pending)
