"""Where results rest: atomic shards in one folder a cell, and exactly which images are still missing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core import BadInput, digest
from ..core.files import write
from ..data.packed_arrays import pack, unpack
from .parquet import read_table, write_table

Row = dict[str, Any]
IMAGES = pa.schema(
    [(name, pa.string()) for name in ("image", "goal", "status", "message", "finisher", "source")]
    + [(name, pa.float64()) for name in ("size", "raw_size", "linf", "l2", "l1", "damage", "won", "won_8bit")]
    + [(name, pa.float64()) for name in ("margin_10", "margin_50", "margin_90")]
    + [(name, pa.int64()) for name in ("forwards", "backwards", "seed", "height", "width", "correct", "valid")]
)
LATER = {
    "images": ("correct", "valid", "margin_10", "margin_50", "margin_90")
}  # columns that folders of earlier versions do not have
COUNTS = pa.schema(
    [(name, pa.string()) for name in ("image", "goal", "state", "zone")]
    + [(name, pa.int64()) for name in ("class", "hits", "predicted", "actual")]
)
OBJECTS = pa.schema(
    [("image", pa.string()), ("goal", pa.string())]
    + [(name, pa.int64()) for name in ("object", "class", "area", "clean", "correct", "kept")]
)
TRACES = pa.schema([("image", pa.string()), ("forwards", pa.int64()), ("correct", pa.int64())])
SCHEMAS = {  # images last: it says that the shard is whole
    "counts": COUNTS,
    "objects": OBJECTS,
    "traces": TRACES,
    "images": IMAGES,
}
EARLIER = {"prints": "fingerprints", "facts": "dataset_info"}  # what version 0.1.0 called them
ORDER = ("image", "goal", "state", "zone", "class", "object", "forwards")  # by which rows are sorted


@dataclass(frozen=True)
class Cell:
    """One model, one dataset, one perturbation, one seed, as plain data."""

    names: Mapping[str, str]  # of model, data and perturbation, for people
    model: Mapping[str, Any]
    data: Mapping[str, Any]
    perturbation: Mapping[str, Any]
    seed: int
    fingerprints: Mapping[str, str]  # fingerprints of the model and of the data
    dataset_info: Mapping[str, Any]  # what a report must know of the data: classes, background, void, palette
    files: Sequence[str] = ()  # fingerprints of the files that the perturbation reads

    @property
    def label(self) -> str:
        """Model, data and perturbation in one line."""
        return " ".join(self.names[part] for part in ("model", "data", "perturbation"))

    @property
    def key(self) -> str:
        """Folder name: the label, and a hash of what is asked (never of where it lies or how it runs)."""
        identity = {"perturbation": dict(self.perturbation), "seed": self.seed, **self.fingerprints}
        if self.files:
            identity["files"] = list(self.files)
        return f"{re.sub('[^A-Za-z0-9.=+]+', '-', self.label).strip('-')[:100]}-{digest(identity)}"


@dataclass(frozen=True)
class Unit:
    """What a worker takes at a time: images of one cell, or of several whose later ones spare what is finished."""

    steps: tuple[tuple[Cell, tuple[str, ...]], ...]
    batches: tuple[tuple[str, ...], ...]  # images that meet the model together, whatever else is in the unit
    finished: Mapping[str, str] = field(default_factory=dict)  # image -> key of the cell after which nothing was left

    @property
    def answers(self) -> int:
        """How many answers it asks for."""
        return sum(len(ids) for _, ids in self.steps)

    @property
    def label(self) -> str:
        """What it does, in a few words."""
        names = [cell.names["perturbation"] for cell, ids in self.steps if ids]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{self.steps[0][0].names['model']}, {names[0] if names else 'nothing'}{more}"


@dataclass
class Shard:
    """The answers to one unit."""

    images: list[Row] = field(default_factory=list)
    counts: list[Row] = field(default_factory=list)
    objects: list[Row] = field(default_factory=list)
    traces: list[Row] = field(default_factory=list)  # pixels right after so many forwards, where an attack tells
    kept: dict[str, np.ndarray] = field(default_factory=dict)  # "goal|image" -> float32 image
    maps: dict[str, np.ndarray] = field(default_factory=dict)  # "truth|image", "clean|image", "goal|image" -> labels

    def extend(self, other: Shard) -> None:
        """Add another's answers."""
        for name in SCHEMAS:
            getattr(self, name).extend(getattr(other, name))
        self.kept.update(other.kept)
        self.maps.update(other.maps)


class Store:
    """A run's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def cells(self) -> list[Cell]:
        """Every cell that was begun, in the order of their keys."""
        return [_read_cell(path) for path in sorted(self.folder.glob("cells/*/cell.json"))]

    def begin(self, cell: Cell) -> None:
        """Make a place for a cell."""
        path = self._place(cell) / "cell.json"
        if not path.exists():
            write(path, json.dumps(asdict(cell), indent=1, sort_keys=True).encode())

    def drop_empty(self, cell: Cell) -> bool:
        """Take away the place of a cell that has no answer; whether it had none."""
        if self._stems(cell):
            return False
        shutil.rmtree(self._place(cell))
        return True

    def missing(
        self, cell: Cell, ids: Iterable[str], *, retry_errors: bool = False, retry_spared: bool = False
    ) -> list[str]:
        """The images that have no answer yet, in the order given."""
        images = self.table(cell, "images")
        if retry_errors:
            images = images.filter(pc.not_equal(images["status"], "error"))
        if retry_spared:
            images = images.filter(pc.equal(images["finisher"], ""))
        answered = set(images["image"].to_pylist())
        return [id_ for id_ in ids if id_ not in answered]

    def add(self, cell: Cell, shard: Shard) -> None:
        """Write a shard; its rows count only once its last file is there."""
        folder, stem = self._place(cell), digest(sorted({row["image"] for row in shard.images}))
        for name, arrays in (("kept", shard.kept), ("maps", shard.maps)):
            if arrays:
                write(folder / f"{name}-{stem}.zst", pack(arrays))
        for name, schema in SCHEMAS.items():
            rows = getattr(shard, name)
            if name == "traces" and not rows:
                continue
            write_table(folder / f"{name}-{stem}.parquet", pa.Table.from_pylist(rows, schema))

    def table(self, cell: Cell, name: str, *, ordered: bool = True) -> pa.Table:
        """All rows of one kind from the whole shards, in a fixed order; what was answered later is left out."""
        tables = [self._table(cell, name, stem) for stem in self._stems(cell)]
        table = pa.concat_tables(tables) if tables else SCHEMAS[name].empty_table()
        if name == "images":
            table = _without_superseded(table)
        return table.sort_by([(key, "ascending") for key in ORDER if key in table.column_names]) if ordered else table

    def kept(self, cell: Cell) -> list[str]:
        """The images of which pictures and label maps are stored, in order."""
        return sorted({_image(key) for maps in self.batches(cell, "maps") for key in maps})

    def arrays(self, cell: Cell, name: str, ids: Collection[str] | None = None) -> dict[str, np.ndarray]:
        """Kept images or label maps, of some images or of all."""
        items = (item for arrays in self.batches(cell, name) for item in arrays.items())
        return {key: array for key, array in items if ids is None or _image(key) in ids}

    def batches(self, cell: Cell, name: str) -> Iterator[dict[str, np.ndarray]]:
        """Kept images or label maps, a shard at a time: all together may be more than memory holds."""
        for stem in self._stems(cell):
            path = self._place(cell) / f"{name}-{stem}.zst"
            if path.exists():
                yield unpack(path.read_bytes())

    def _place(self, cell: Cell) -> Path:
        return self.folder / "cells" / cell.key

    def _stems(self, cell: Cell) -> list[str]:
        return sorted(path.stem.removeprefix("images-") for path in self._place(cell).glob("images-*.parquet"))

    def _table(self, cell: Cell, name: str, stem: str) -> pa.Table:
        path = self._place(cell) / f"{name}-{stem}.parquet"
        if name == "traces" and not path.exists():  # not every perturbation tells how it got on
            return TRACES.empty_table()
        return read_table(path, SCHEMAS[name], "delete its shard and run the same command again", LATER.get(name, ()))


def _without_superseded(images: pa.Table) -> pa.Table:
    """Rows without those of images that were answered later: for the same goal, or at all where none was reached."""
    fine = pc.equal(images["status"], "ok")
    keys = pc.binary_join_element_wise(images["image"], images["goal"], "|")
    same_goal = pc.is_in(keys, keys.filter(fine).combine_chunks())
    any_goal = pc.is_in(images["image"], images["image"].filter(fine).combine_chunks())
    late = pc.if_else(pc.equal(images["goal"], ""), any_goal, same_goal)
    return images.filter(pc.or_(fine, pc.invert(late)))


def _image(key: str) -> str:
    return key.partition("|")[2]


def _read_cell(path: Path) -> Cell:
    plain = json.loads(path.read_text())
    try:
        return Cell(**{EARLIER.get(key, key): value for key, value in plain.items()})
    except TypeError as error:
        raise BadInput(f"{path} was written by another version of segstress ({error}); use that version") from error
