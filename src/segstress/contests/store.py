"""Where a competition rests: an index of the pool, and for each model its maps, histograms and agreements, by shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..competition.discrepancy import BY_CLASS, ONE_WAY
from ..core import BadInput, digest
from ..core.files import write
from ..data.packed_arrays import pack, unpack
from ..runtime import read_table, write_table
from .journal import Journal
from .plan import Entrant

INDEX = pa.schema(
    [(name, pa.string()) for name in ("image", "name", "source", "status", "message")]
    + [("height", pa.int32()), ("width", pa.int32()), ("hash", pa.uint64())]
)
ROWS = pa.schema(
    [(name, pa.string()) for name in ("image", "status", "message")]
    + [("size", pa.int64()), ("classes", pa.list_(pa.int32())), ("pixels", pa.list_(pa.int64()))]
)


@dataclass(frozen=True)
class Part:
    """Some images of the pool: ids, and the names under which the dataset knows them."""

    images: tuple[str, ...]
    names: tuple[str, ...]
    number: int = 0  # its place among all shards

    @property
    def stem(self) -> str:
        """Part of the file names; the same for every model."""
        return digest(self.images)


class ContestStore:
    """The folder of one competition."""

    def __init__(self, folder: Path, shard_size: int) -> None:
        self.folder, self.shard_size = folder, shard_size

    @cached_property
    def index(self) -> pa.Table:
        """Every image of the pool, in the order of ids."""
        path = self.folder / "index.parquet"
        if not path.exists():
            raise BadInput(f"{self.folder} has no index; run segstress mad index first")
        return read_table(path)

    def parts(self) -> list[Part]:
        """Return the usable images, cut into shards."""
        usable = self.index.filter(pc.equal(self.index["status"], "ok"))
        images, names = (usable[column].to_pylist() for column in ("image", "name"))
        size = self.shard_size
        return [
            Part(tuple(images[first : first + size]), tuple(names[first : first + size]), number)
            for number, first in enumerate(range(0, len(images), size))
        ]

    def known(self, images: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return index rows of some images."""
        wanted = pc.is_in(self.index["image"], pa.array(list(images), pa.string()))
        usable = pc.equal(self.index["status"], "ok")
        return {row["image"]: row for row in self.index.filter(pc.and_(wanted, usable)).to_pylist()}

    def part_file(self, entrant: Entrant, kind: str, part: Part) -> Path:
        """Tell where one kind of a model's results for one shard lies."""
        suffix = "zst" if kind in ("maps", "begun") else "parquet"
        return self.folder / "models" / entrant.key / f"{kind}-{part.stem}.{suffix}"

    def write_maps(self, entrant: Entrant, part: Part, maps: dict[str, np.ndarray], rows: list[dict[str, Any]]) -> None:
        """Keep a shard's maps, then their histograms, which say that the shard is whole."""
        write(self.part_file(entrant, "maps", part), pack(maps))
        self.journal(entrant, part).remove()
        write_table(self.part_file(entrant, "rows", part), pa.Table.from_pylist(rows, ROWS))

    def journal(self, entrant: Entrant, part: Part) -> Journal:
        """Tell where a model's maps of a shard rest until all are there."""
        return Journal(self.part_file(entrant, "begun", part))

    def begun(self, entrant: Entrant, part: Part) -> dict[str, np.ndarray]:
        """Return the maps that an earlier run has left of a shard that is not whole."""
        there = self.part_file(entrant, "maps", part).exists()
        return (self.maps(entrant, part) if there else {}) | self.journal(entrant, part).read()

    def forget(self, entrant: Entrant, part: Part) -> None:
        """Let a model answer again where it failed in a shard; every comparison of the shard falls with it."""
        for path in (self.folder / "models").glob(f"*/pairs-*-{part.stem}.parquet"):
            path.unlink()
        self.part_file(entrant, "rows", part).unlink()

    def errors(self, entrant: Entrant, part: Part) -> list[str]:
        """Return what went wrong with a model on images of a shard, whenever it was."""
        rows = read_table(self.part_file(entrant, "rows", part))
        failed = rows.filter(pc.equal(rows["status"], "error")).select(["image", "message"]).to_pylist()
        return [f"{entrant.name} on {row['image']}: {row['message']}" for row in failed]

    def maps(self, entrant: Entrant, part: Part) -> dict[str, np.ndarray]:
        """Return the label maps of a shard by image; an image without one had an error."""
        path = self.part_file(entrant, "maps", part)
        try:
            return unpack(path.read_bytes())
        except (OSError, BadInput) as error:
            raise BadInput(f"{path} cannot be read ({error}); delete its shard and run mad predict again") from error

    def shares(self, entrant: Entrant, part: Part, classes: int) -> np.ndarray:
        """Return the share of each class in each map of a shard, NaN where there is no map."""
        rows = read_table(self.part_file(entrant, "rows", part))
        sizes = rows["size"].to_numpy()
        shares = np.where(sizes[:, None] > 0, np.zeros((1, classes), dtype=np.float32), np.float32(np.nan))
        lists = rows["classes"].combine_chunks()
        image = np.repeat(np.arange(len(lists)), np.diff(lists.offsets.to_numpy()))
        pixels = rows["pixels"].combine_chunks().values.to_numpy()
        shares[image, lists.values.to_numpy()] = pixels / sizes[image]
        return shares

    def write_pairs(
        self, entrant: Entrant, part: Part, metric: str, earlier: Sequence[Entrant], scores: np.ndarray
    ) -> None:
        """Write agreement with the earlier models: (images, earlier, 2 directions[, classes]), as defender first."""
        columns = {"image": pa.array(part.images)}
        for index, other in enumerate(earlier):
            for direction, name in _directions(metric):
                values = scores[:, index, direction].astype(np.float32)
                flat = pa.array(values.ravel())
                column = pa.FixedSizeListArray.from_arrays(flat, values.shape[1]) if values.ndim > 1 else flat
                columns[f"{other.key}{name}"] = column
        write_table(self.part_file(entrant, f"pairs-{metric}", part), pa.table(columns))

    def scores(self, field: Sequence[Entrant], part: Part, metric: str, classes: int) -> np.ndarray:
        """Return agreement (images, defender, attacker[, classes]) of one shard, NaN where either has no map."""
        shape = (len(part.images), len(field), len(field), *((classes,) if metric in BY_CLASS else ()))
        agreements = np.full(shape, np.nan, dtype=np.float32)
        for later, entrant in enumerate(field[1:], start=1):
            table = read_table(self.part_file(entrant, f"pairs-{metric}", part))
            for earlier, other in enumerate(field[:later]):
                columns = [_values(table[f"{other.key}{name}"]) for _, name in _directions(metric)]
                agreements[:, later, earlier], agreements[:, earlier, later] = columns[0], columns[-1]
        return agreements


def _directions(metric: str) -> Iterator[tuple[int, str]]:
    """Yield which way a column is read: one for both where the order does not matter."""
    yield 0, ""
    if metric in ONE_WAY:
        yield 1, "|attacks"


def _values(column: pa.ChunkedArray) -> np.ndarray:
    array = column.combine_chunks()
    several = pa.types.is_fixed_size_list(array.type)
    values: np.ndarray = array.values.to_numpy().reshape(len(array), -1) if several else array.to_numpy()
    return values
