"""Where results rest: atomic shards in one folder a cell, and exactly which images are still missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core import BadInput, digest
from ..core.files import write
from ..data.packed_arrays import pack, unpack
from . import shard_files
from .cell import SCHEMA, Cell, cell_of
from .checksums import read_json, write_json
from .parquet import read_table, table_bytes
from .shard import LATER, ORDER, SCHEMAS, TRACES, Shard

EMPTY: Mapping[str, Mapping[str, str]] = {}
CHUNK = 2**20  # rows that are held at a time
ASKED = "asked.json"  # what a run is to hold


class ShardStates(NamedTuple):
    """What a cell's folder held when it was looked at, shards by their stems."""

    stems: list[str]  # those that count
    wrong: dict[str, str]  # with what is wrong with them
    replaced: set[str]  # left beside the larger ones to which they were joined


class Store:
    """A run's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._schemas: dict[str, int] = {}
        self._examined: dict[tuple[str, str], str] = {}
        self._looks: dict[str, tuple[frozenset[Path], ShardStates]] = {}  # by cell, as long as its files are those

    def cells(self) -> list[Cell]:
        """Return every cell that was begun, in the order of their keys."""
        return [cell for place, cell in self._begun() if place.name == cell.key or self.schema(cell) == 1]

    def misplaced(self) -> list[str]:
        """Say which folders hold the cell of another, and so do not count."""
        return [
            f"cells/{place.name} is foreign: its cell.json belongs to cells/{cell.key}"
            for place, cell in self._begun()
            if place.name != cell.key and self.schema(cell) > 1
        ]

    def ask(
        self, cells: Sequence[Cell], images: Mapping[str, Sequence[str]], files: Mapping[str, Mapping[str, str]] = EMPTY
    ) -> None:
        """Make a place for every cell, and write down what is asked: cells, and images by their data's fingerprint.

        Of data that lie in files, the hashes by which a changed one is known go with it."""
        plain = {"images": images, "files": files, "cells": [asdict(cell) for cell in cells]}
        write_json(self.folder / ASKED, plain)
        for cell in cells:
            self.begin(cell)

    def asked(self) -> tuple[list[Cell], dict[str, list[str]]]:
        """Return the cells and images that were asked for; nothing of a folder of an earlier version."""
        path = self.folder / ASKED
        if not path.exists() and any(self.schema(cell) > 1 for cell in self.cells()):
            raise BadInput(f"{path} is missing, which says what was asked; run the same command again")
        plain = read_json(path) if path.exists() else {"images": {}, "cells": []}
        return [cell_of(one, path) for one in plain["cells"]], plain["images"]

    def files(self) -> dict[str, dict[str, str]]:
        """Return the hashes of the data's files when the run was begun, by the data's fingerprint."""
        path = self.folder / ASKED
        return read_json(path).get("files", {}) if path.exists() else {}

    def begin(self, cell: Cell) -> None:
        """Make a place for a cell, or note where its data lie now."""
        path = self.cell_folder(cell) / "cell.json"
        plain = json.loads(json.dumps(asdict(cell) | {"schema": SCHEMA}))
        if not path.exists() or read_json(path) != plain:
            write_json(path, plain)
        self._schemas[cell.key] = SCHEMA

    def schema(self, cell: Cell) -> int:
        """Return the version of what the cell's folder holds."""
        if cell.key not in self._schemas:
            path = self.cell_folder(cell) / "cell.json"
            self._schemas[cell.key] = read_json(path).get("schema", 1) if path.exists() else SCHEMA
        return self._schemas[cell.key]

    def drop_empty(self, cell: Cell) -> bool:
        """Take away the place of a cell that has no answer; whether it had none."""
        if shard_files.shard_files(self.cell_folder(cell)):
            return False
        shutil.rmtree(self.cell_folder(cell))
        return True

    def missing(
        self, cell: Cell, ids: Iterable[str], *, retry_errors: bool = False, retry_spared: bool = False
    ) -> list[str]:
        """Return the images that have no answer yet, in the order given."""
        images = self.table(cell, "images")
        if retry_errors:
            images = images.filter(pc.not_equal(images["status"], "error"))
        if retry_spared:
            images = images.filter(pc.equal(images["finisher"], ""))
        answered = set(images["image"].to_pylist())
        return [id_ for id_ in ids if id_ not in answered]

    def add(self, cell: Cell, shard: Shard) -> None:
        """Write a shard; its rows count only once its last file, that of the checksums, is there."""
        folder, stem = self.cell_folder(cell), digest(sorted({row["image"] for row in shard.images}))
        files = {
            f"{name}-{stem}.zst": pack(arrays)
            for name, arrays in (("kept", shard.kept), ("maps", shard.maps))
            if arrays
        }
        for name, schema in SCHEMAS.items():
            rows = getattr(shard, name)
            if name != "traces" or rows:
                files[f"{name}-{stem}.parquet"] = table_bytes(pa.Table.from_pylist(rows, schema))
        for name, data in files.items():
            write(folder / name, data)
        shard_files.write_sums(folder, stem, files)
        self.forget(cell, [stem])

    def table(self, cell: Cell, name: str, *, ordered: bool = True) -> pa.Table:
        """Return all rows of one kind from the whole shards, in a fixed order; what was answered later is left out."""
        tables = [self.shard(cell, name, stem) for stem in self.stems(cell)]
        table = pa.concat_tables(tables) if tables else SCHEMAS[name].empty_table()
        if name == "images":
            table = without_superseded(table, table)
        return table.sort_by([(key, "ascending") for key in ORDER if key in table.column_names]) if ordered else table

    def chunks(self, cell: Cell, name: str) -> Iterator[pa.Table]:
        """Yield all rows of one kind that are there, many at a time."""
        tables: list[pa.Table] = []
        for stem in self.stems(cell):
            tables.append(self.shard(cell, name, stem))
            if sum(map(len, tables)) >= CHUNK:
                yield pa.concat_tables(tables)
                tables = []
                pa.default_memory_pool().release_unused()
        if sum(map(len, tables)):
            yield pa.concat_tables(tables)

    def shard(self, cell: Cell, name: str, stem: str) -> pa.Table:
        """Return the rows of one kind of one shard."""
        path = self.cell_folder(cell) / f"{name}-{stem}.parquet"
        if name == "traces" and not path.exists():  # not every perturbation tells how it got on
            return TRACES.empty_table()
        return read_table(path, SCHEMAS[name], "delete its shard and run the same command again", LATER.get(name, ()))

    def together(self, cell: Cell) -> list[tuple[str, list[str]]]:
        """Return the images that met the model together, in their order, with the shard in which they lie.

        A folder of an earlier version does not tell: there each image stands alone."""
        batches: dict[tuple[str, str], dict[str, None]] = {}
        for stem in self.stems(cell):
            images = self.shard(cell, "images", stem)
            images = images.filter(pc.equal(images["finisher"], ""))
            for image, batch in zip(images["image"].to_pylist(), images["batch"].to_pylist(), strict=True):
                batches.setdefault((stem, batch or image), {})[image] = None
        return [(stem, list(batch)) for (stem, _), batch in batches.items()]

    def kept(self, cell: Cell) -> list[str]:
        """Return the images of which pictures and label maps are stored, in order."""
        return sorted({_image(key) for maps in self.batches(cell, "maps") for key in maps})

    def arrays(self, cell: Cell, name: str, ids: Collection[str] | None = None) -> dict[str, np.ndarray]:
        """Return the kept images or label maps, of some images or of all."""
        items = (item for arrays in self.batches(cell, name) for item in arrays.items())
        return {key: array for key, array in items if ids is None or _image(key) in ids}

    def batches(self, cell: Cell, name: str) -> Iterator[dict[str, np.ndarray]]:
        """Yield the kept images or label maps, a shard at a time: all together may be more than memory holds."""
        for stem in self.stems(cell):
            path = self.cell_folder(cell) / f"{name}-{stem}.zst"
            if path.exists():
                yield unpack(path.read_bytes())

    def cell_folder(self, cell: Cell) -> Path:
        """Return the folder of a cell."""
        return self.folder / "cells" / cell.key

    def stems(self, cell: Cell) -> list[str]:
        """Return the shards that count: whole, as they were written, each image answered once."""
        if self.schema(cell) == 1:
            return sorted(path.stem.removeprefix("images-") for path in self.cell_folder(cell).glob("images-*.parquet"))
        return self._look(cell).stems

    def damage(self, cell: Cell) -> dict[str, str]:
        """Return what is wrong with shards, by their stems: a changed, missing, foreign or doubled file by its name."""
        return {} if self.schema(cell) == 1 else self._look(cell).wrong

    def set_aside(self, cell: Cell) -> list[str]:
        """Move away the shards with which something is wrong, so that they are computed again; say which."""
        folder, wrong = self.cell_folder(cell), self.damage(cell)
        self.drop_replaced(cell)
        found = shard_files.shard_files(folder)
        shard_files.set_aside(folder, [path for stem in wrong for path in found.get(stem, ())])
        self.forget(cell, wrong)
        return [f"cells/{cell.key}/{fault}" for fault in wrong.values()]

    def drop_replaced(self, cell: Cell) -> None:
        """Delete the shards that were joined to larger ones, as far as a kill has left them."""
        replaced = self._look(cell).replaced if self.schema(cell) > 1 else ()
        found = shard_files.shard_files(self.cell_folder(cell))
        for stem in replaced:
            shard_files.remove(found[stem])
        self.forget(cell, replaced)

    def forget(self, cell: Cell, stems: Iterable[str]) -> None:
        """ShardStates at shards anew, since their files were written or removed."""
        for stem in stems:
            self._examined.pop((cell.key, stem), None)
        self._looks.pop(cell.key, None)

    def _begun(self) -> list[tuple[Path, Cell]]:
        begun = []
        for path in sorted(self.folder.glob("cells/*/cell.json")):
            plain = read_json(path)
            cell = cell_of(plain, path)
            self._schemas[cell.key] = plain.get("schema", 1)
            begun.append((path.parent, cell))
        return begun

    def _look(self, cell: Cell) -> ShardStates:
        found = shard_files.shard_files(self.cell_folder(cell))
        seen = frozenset(path for paths in found.values() for path in paths)
        if self._looks.get(cell.key, (None,))[0] != seen:
            self._looks[cell.key] = seen, self._examine(cell, found)
        return self._looks[cell.key][1]

    def _examine(self, cell: Cell, found: Mapping[str, Sequence[Path]]) -> ShardStates:
        folder = self.cell_folder(cell)
        for stem, paths in found.items():
            if self._examined.get((cell.key, stem), "unknown"):  # one that another process is writing may be whole now
                self._examined[cell.key, stem] = shard_files.examine(folder, stem, paths)
        whole = [stem for stem in sorted(found) if not self._examined[cell.key, stem]]
        manifest = shard_files.read_manifest(folder)
        replaced = shard_files.replaced(folder, found, whole, manifest[1] if manifest else ())
        wrong = {stem: fault for stem in found if (fault := self._examined[cell.key, stem]) and stem not in replaced}
        whole = [stem for stem in whole if stem not in replaced]
        if manifest is not None:
            listed = {stem: sums for stem, sums in manifest[1].items() if stem not in wrong}
            wrong |= shard_files.compare(folder, listed, whole)
        wrong |= self._doubled(cell, [stem for stem in whole if stem not in wrong])
        return ShardStates([stem for stem in whole if stem not in wrong], wrong, replaced)

    def _doubled(self, cell: Cell, stems: Sequence[str]) -> dict[str, str]:
        """Return the shards that answer what another has answered."""
        answers: dict[tuple[str, str], str] = {}
        wrong = {}
        for stem in stems:
            images = self.shard(cell, "images", stem)
            images = images.filter(pc.equal(images["status"], "ok"))
            for key in zip(images["image"].to_pylist(), images["goal"].to_pylist(), strict=True):
                first = answers.setdefault(key, stem)
                if first != stem:
                    wrong[stem] = f"images-{stem}.parquet is doubled: images-{first}.parquet answers '{key[0]}' too"
        return wrong


def without_superseded(images: pa.Table, every: pa.Table) -> pa.Table:
    """Drop rows of images that any shard answered later: for the same goal, or at all where none was reached."""
    fine, answered = pc.equal(images["status"], "ok"), every.filter(pc.equal(every["status"], "ok"))
    same_goal = pc.is_in(_keys(images), _keys(answered).combine_chunks())
    any_goal = pc.is_in(images["image"], answered["image"].combine_chunks())
    late = pc.if_else(pc.equal(images["goal"], ""), any_goal, same_goal)
    return images.filter(pc.or_(fine, pc.invert(late)))


def _keys(images: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(images["image"], images["goal"], "|")


def _image(key: str) -> str:
    return key.partition("|")[2]
