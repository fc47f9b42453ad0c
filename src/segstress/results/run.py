"""The one reader of a run's folder: every table is read once, in columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core import BadInput, Perturbation, digest, perturbations
from ..models import models
from ..planning import Plan, read_plan
from ..planning.reading import read_yaml
from ..runtime import Cell, Store, read_json, read_text
from ..runtime.surroundings import versions

Counts = Mapping[tuple[str, str, str], np.ndarray]  # (goal, zone, state) -> (images, classes, 3)
Arrays = Mapping[str, np.ndarray]
KEPT = 2**26  # bytes of tables that are held at most; beyond that they are read again when they are asked for


class Run:
    """What a folder holds. Tables are kept, as many as fit, so a run that goes on is opened anew to see more."""

    def __init__(self, folder: Path, plan: Plan | None = None) -> None:
        self.folder, self.store, self._plan = folder, Store(folder), plan
        self._tables: dict[tuple[str, str], pa.Table] = {}

    @cached_property
    def plan(self) -> Plan:
        """What was asked: the plan given, or that of the folder."""
        path = self.folder / "plan.yaml"
        if self._plan is None and not path.exists() and not self.store.cells():
            raise self._nothing()
        return self._plan or read_plan(read_yaml(read_text(path), str(path)))

    def _nothing(self) -> BadInput:
        return BadInput(f"{self.folder} holds no results; expected a folder made by segstress run, attack or spatial")

    @cached_property
    def cells(self) -> list[Cell]:
        """Every cell, in the order of the plan; those of a battery that this version does not know come last."""
        cells = self.store.cells()
        if not cells:
            raise self._nothing()
        order = [*map(models.spec, map(models.build, self.plan.models)), *map(perturbations.spec, _changes(self.plan))]
        rank = {digest(spec): number for number, spec in enumerate(order)}
        last = len(rank)  # for what another version of segstress stored
        return sorted(cells, key=lambda cell: [rank.get(digest(dict(spec)), last) for spec in _specs(cell)])

    @cached_property
    def perturbations(self) -> dict[str, Perturbation]:
        """The perturbation of every cell, by its key."""
        try:
            return {cell.key: perturbations.build(cell.perturbation) for cell in self.cells}
        except BadInput as error:
            made, own = self.environment["versions"].get("segstress", "unknown"), versions()["segstress"]
            raise BadInput(
                f"{self.folder} was made by segstress {made}, whose settings {own} does not read ({error}); "
                f"use {made}, or run again with another --out"
            ) from error

    @cached_property
    def environment(self) -> Mapping[str, Any]:
        """Where and with which numerics it was made."""
        return read_json(self.folder / "environment.json")

    @cached_property
    def damage(self) -> list[str]:
        """What is wrong with stored files, one line for each shard or cell that does not count."""
        shards = [f"cells/{cell.key}/{fault}" for cell in self.cells for fault in self.store.damage(cell).values()]
        keys = {cell.key for cell in self._request[0]}
        foreign = [f"cells/{cell.key} is foreign: it was not asked for" for cell in self.cells if cell.key not in keys]
        return [*shards, *self.store.misplaced(), *(foreign if keys else ())]

    def images(self, cell: Cell) -> pa.Table:
        """Return one row for each image and goal."""
        return self._table(cell, "images")

    def objects(self, cell: Cell) -> pa.Table:
        """Return one row for each true object and goal."""
        return self._table(cell, "objects")

    def traces(self, cell: Cell) -> pa.Table:
        """Return the pixels right after so many forwards."""
        return self._table(cell, "traces")

    def ids(self, cell: Cell, *status: str) -> list[str]:
        """Return the images that a cell has a row of, or one of that status, in order."""
        images = self.images(cell)
        if status:
            images = images.filter(pc.is_in(images["status"], pa.array(status)))
        ids: list[str] = pc.unique(images["image"]).to_pylist()
        return ids

    def answered(self, cell: Cell) -> list[str]:
        """Return the images that a cell answered for every goal."""
        failed = set(self.ids(cell, "error"))
        return [id_ for id_ in self.ids(cell, "ok") if id_ not in failed]

    def counts(self, cell: Cell, ids: Sequence[str] | None = None) -> Counts:
        """Count these images, or all that the cell was asked for, in order, for every goal, zone and state.

        Zeros where a class or an answer is missing."""
        ids = self.expected(cell) if ids is None else ids
        shape = (len(ids), len(cell.dataset_info["classes"]), 3)
        counts: dict[tuple[str, str, str], np.ndarray] = {}
        for table in self.store.chunks(cell, "counts"):  # they are most of a run, so all are never held
            image = pc.fill_null(pc.index_in(table["image"], pa.array(ids, pa.string())), -1).to_numpy()
            keys = [pc.dictionary_encode(table[name]).combine_chunks() for name in ("goal", "zone", "state")]
            names = list(product(*(key.dictionary.to_pylist() for key in keys)))
            indices = [key.indices.to_numpy() for key in keys]
            cases = np.where(image < 0, -1, np.ravel_multi_index(indices, [len(key.dictionary) for key in keys]))
            columns = {name: table[name].to_numpy() for name in ("class", "hits", "predicted", "actual")}
            for case in np.flatnonzero(np.bincount(cases[cases >= 0])):
                rows = np.flatnonzero(cases == case)
                # of pixels of one image there are fewer than 2^31
                dense = counts.setdefault(names[case], np.zeros(shape, dtype=np.int32))
                for number, name in enumerate(("hits", "predicted", "actual")):
                    dense[image[rows], columns["class"][rows], number] = columns[name][rows]
        return counts

    def kept(self, cell: Cell) -> list[str]:
        """Return the images of which pictures and label maps are stored, in order."""
        return self.store.kept(cell)

    def pictures(self, cell: Cell, ids: Collection[str]) -> tuple[Arrays, Arrays]:
        """Return the kept images and label maps of some images, under "goal|image"."""
        return self.store.arrays(cell, "kept", ids), self.store.arrays(cell, "maps", ids)

    def expected(self, cell: Cell) -> list[str]:
        """Return the images that a cell was asked for, in order; of an earlier version's run, those that it has."""
        return self._request[1].get(cell.fingerprints["data"]) or self.ids(cell)

    def missing(self, cell: Cell) -> list[str]:
        """Return the images that a cell was asked for and has no answer of; one without a valid pixel needs none."""
        done = {*self.answered(cell), *self.ids(cell, "skipped")}
        return [id_ for id_ in self.expected(cell) if id_ not in done]

    @cached_property
    def absent(self) -> list[Cell]:
        """The cells that were asked for and are not there."""
        there = {cell.key for cell in self.cells}
        return [cell for cell in self._request[0] if cell.key not in there]

    @cached_property
    def _request(self) -> tuple[list[Cell], dict[str, list[str]]]:
        return self.store.read_request()

    def photographs(self, cell: Cell, ids: Collection[str]) -> tuple[Arrays, Arrays]:
        """Return the same with those channels of the images that the dataset wants to be shown."""
        images, maps = self.pictures(cell, ids)
        return _shown(cell, images), maps

    def photograph_shards(self, cell: Cell, ids: Collection[str]) -> Iterator[tuple[Arrays, Arrays]]:
        """Yield the same, those of one shard after the other."""
        for kept in self.store.batches(cell, "kept", ids):
            images = {key: image for key, image in kept.items() if key.partition("|")[2] in ids}
            if images:
                yield _shown(cell, images), self.store.arrays(cell, "maps", {key.partition("|")[2] for key in images})

    def _table(self, cell: Cell, name: str) -> pa.Table:
        key = (cell.key, name)
        table = self._tables.pop(key, None)
        self._tables[key] = self.store.table(cell, name) if table is None else table  # the last in use is the last
        while len(self._tables) > 1 and sum(table.nbytes for table in self._tables.values()) > KEPT:
            del self._tables[next(iter(self._tables))]
        return self._tables[key]


def _shown(cell: Cell, images: Arrays) -> Arrays:
    show = [channel - 1 for channel in cell.dataset_info.get("show", ())]
    return {key: image[show] if show else image for key, image in images.items()}


def _specs(cell: Cell) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return cell.model, cell.perturbation


def _changes(plan: Plan) -> list[Perturbation]:
    """Return what the plan asks for; without its battery where that is gone, since a report needs only its results."""
    try:
        return plan.changes()
    except BadInput:
        return replace(plan, battery=None).changes()
