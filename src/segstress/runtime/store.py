"""Where results rest: atomic shards in one folder a cell, and exactly which images are still missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import compress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core import BadInput, digest
from ..core.files import write
from . import shard_files
from .cell import SCHEMA, Cell, cell_of
from .checksums import read_json, write_json
from .shard import ORDER, Shard
from .shard_arrays import image_of, packed, shard_arrays
from .shard_states import Examiner
from .shard_tables import shard_chunks, shard_table, shard_tables, together, without_superseded

EMPTY: Mapping[str, Mapping[str, str]] = {}
ASKED = "asked.json"  # what a run is to hold


class Store:
    """A run's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._schemas: dict[str, int] = {}
        self._examiner = Examiner()

    def cells(self) -> list[Cell]:
        """Return every cell that was begun, in the order of their keys."""
        return [cell for folder, cell in self._begun() if folder.name == cell.key or self.schema(cell) == 1]

    def misplaced(self) -> list[str]:
        """Say which folders hold the cell of another, and so do not count."""
        return [
            f"cells/{folder.name} is foreign: its cell.json belongs to cells/{cell.key}"
            for folder, cell in self._begun()
            if folder.name != cell.key and self.schema(cell) > 1
        ]

    def write_request(
        self, cells: Sequence[Cell], images: Mapping[str, Sequence[str]], files: Mapping[str, Mapping[str, str]] = EMPTY
    ) -> None:
        """Make a folder for every cell, and write down what is asked: cells, and images by their data's fingerprint.

        Of data that lie in files, the hashes by which a changed one is known go with it."""
        plain = {"images": images, "files": files, "cells": [asdict(cell) for cell in cells]}
        write_json(self.folder / ASKED, plain)
        for cell in cells:
            self.begin(cell)

    def read_request(self) -> tuple[list[Cell], dict[str, list[str]]]:
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
        """Make a folder for a cell, or note where its data lie now."""
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
        """Take away the folder of a cell that has no answer; whether it had none."""
        if shard_files.shard_files(self.cell_folder(cell)):
            return False
        shutil.rmtree(self.cell_folder(cell))
        return True

    def missing(
        self, cell: Cell, ids: Iterable[str], *, retry_errors: bool = False, retry_spared: bool = False
    ) -> list[str]:
        """Return the images that have no answer yet, in the order given."""
        wanted = list(ids)
        return list(
            compress(wanted, self.unanswered(cell, wanted, retry_errors=retry_errors, retry_spared=retry_spared))
        )

    def unanswered(
        self, cell: Cell, ids: Sequence[str], *, retry_errors: bool = False, retry_spared: bool = False
    ) -> np.ndarray:
        """Tell of each image whether it has no answer yet."""
        images = self.table(cell, "images", ("image", "goal", "status", "finisher"), ordered=False)
        if retry_errors:
            images = images.filter(pc.not_equal(images["status"], "error"))
        if retry_spared:
            images = images.filter(pc.equal(images["finisher"], ""))
        answered = pc.is_in(pa.array(ids, pa.string()), images["image"].combine_chunks())
        return np.asarray(pc.invert(answered).to_numpy(zero_copy_only=False))

    def add(self, cell: Cell, shard: Shard) -> None:
        """Write a shard; its rows count only once its last file, that of the checksums, is there."""
        folder, stem = self.cell_folder(cell), digest(sorted({row["image"] for row in shard.images}))
        files = packed(shard, stem)
        for name, data in files.items():
            write(folder / name, data)
        shard_files.write_sums(folder, stem, files)
        self.forget(cell, [stem])

    def table(self, cell: Cell, name: str, columns: Collection[str] = (), *, ordered: bool = True) -> pa.Table:
        """Return all rows of one kind from the whole shards, in a fixed order; what was answered later is left out."""
        table = shard_tables(self.cell_folder(cell), name, self.stems(cell), columns)
        if name == "images":
            table = without_superseded(table, table)
        return table.sort_by([(key, "ascending") for key in ORDER if key in table.column_names]) if ordered else table

    def chunks(self, cell: Cell, name: str) -> Iterator[pa.Table]:
        """Yield all rows of one kind that are there, many at a time."""
        return shard_chunks(self.cell_folder(cell), name, self.stems(cell))

    def shard(self, cell: Cell, name: str, stem: str) -> pa.Table:
        """Return the rows of one kind of one shard."""
        return shard_table(self.cell_folder(cell), name, stem)

    def together(self, cell: Cell) -> list[tuple[str, list[str]]]:
        """Return the images that met the model together, in their order, with the shard in which they lie."""
        return together(self.cell_folder(cell), self.stems(cell))

    def kept(self, cell: Cell) -> list[str]:
        """Return the images of which pictures and label maps are stored, in order."""
        return sorted({image_of(key) for maps in self.batches(cell, "maps") for key in maps})

    def arrays(self, cell: Cell, name: str, ids: Collection[str] | None = None) -> dict[str, np.ndarray]:
        """Return the kept images or label maps, of some images or of all."""
        items = (item for arrays in self.batches(cell, name, ids) for item in arrays.items())
        return {key: array for key, array in items if ids is None or image_of(key) in ids}

    def batches(self, cell: Cell, name: str, ids: Collection[str] | None = None) -> Iterator[dict[str, np.ndarray]]:
        """Yield the kept images or label maps, a shard at a time: all together may be more than memory holds.

        Of some images, only the shards that have any of them are read."""
        return shard_arrays(self.cell_folder(cell), name, self.stems(cell), ids)

    def cell_folder(self, cell: Cell) -> Path:
        """Return the folder of a cell."""
        return self.folder / "cells" / cell.key

    def stems(self, cell: Cell) -> list[str]:
        """Return the shards that count: whole, as they were written, each image answered once."""
        if self.schema(cell) == 1:
            return sorted(path.stem.removeprefix("images-") for path in self.cell_folder(cell).glob("images-*.parquet"))
        return self._examiner.look(self.cell_folder(cell)).stems

    def damage(self, cell: Cell) -> dict[str, str]:
        """Return what is wrong with shards, by their stems: a changed, missing, foreign or doubled file by its name."""
        return {} if self.schema(cell) == 1 else self._examiner.look(self.cell_folder(cell)).wrong

    def set_aside(self, cell: Cell) -> list[str]:
        """Move away the shards with which something is wrong, so that they are computed again; say which."""
        faults = self._examiner.set_aside(self.cell_folder(cell)) if self.schema(cell) > 1 else ()
        return [f"cells/{cell.key}/{fault}" for fault in faults]

    def drop_replaced(self, cell: Cell) -> None:
        """Delete the shards that were joined to larger ones, as far as a kill has left them."""
        if self.schema(cell) > 1:
            self._examiner.drop_replaced(self.cell_folder(cell))

    def forget(self, cell: Cell, stems: Iterable[str]) -> None:
        """Look at shards anew next time, since their files were written or removed."""
        self._examiner.forget(self.cell_folder(cell), stems)

    def _begun(self) -> list[tuple[Path, Cell]]:
        begun = []
        for path in sorted(self.folder.glob("cells/*/cell.json")):
            plain = read_json(path)
            cell = cell_of(plain, path)
            self._schemas[cell.key] = plain.get("schema", 1)
            begun.append((path.parent, cell))
        return begun
