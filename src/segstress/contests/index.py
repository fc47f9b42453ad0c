"""The first step of a competition: look at every image of the pool once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..competition.perceptual import perceptual_hash
from ..core import BadImage, BadInput, digest, import_source
from ..data import Dataset, Sample, datasets
from ..runtime import Progress, RunOptions, read_table, start_executor, write_table
from ..runtime.elsewhere import named_files
from ..runtime.sharing import Sharing
from .plan import Contest
from .predict import open_pool
from .store import INDEX

ID_LENGTH = 32  # hexadecimal digits of an image's id: 128 bits, so that 10^8 images do not share one by chance
BLOCK = 256  # images indexed at a time


@dataclass(frozen=True)
class IndexBlock:
    """Some images that are looked at together."""

    names: tuple[str, ...]
    number: int  # its place among all of them


@dataclass(frozen=True)
class IndexWork:
    """Look at some images of the pool; travels to a worker."""

    folder: Path
    pool: str  # spec as JSON
    plugins: tuple[str, ...] = ()

    def __call__(self, block: IndexBlock) -> IndexBlock:
        """Write a block of index rows."""
        for plugin in self.plugins:
            import_source(plugin)
        data = open_pool(self.pool)
        return self._write(block, [_look(data, name) for name in block.names])

    def give_up(self, block: IndexBlock, reason: str) -> IndexBlock:
        """Note images that workers die of as such that cannot be read."""
        return self._write(block, [_unread(name, reason) for name in block.names])

    def _write(self, block: IndexBlock, rows: list[dict[str, Any]]) -> IndexBlock:
        write_table(block_path(self.folder, block.names), pa.Table.from_pylist(rows, INDEX))
        return block


def block_path(folder: Path, names: Sequence[str]) -> Path:
    """Tell where the index rows of some images are written first."""
    return folder / "index" / f"{digest(list(names))}.parquet"


def _look(data: Dataset, name: str) -> dict[str, Any]:
    try:
        return index_row(name, data.read(name))
    except BadImage as error:
        return _unread(name, str(error))


def _unread(name: str, message: str) -> dict[str, Any]:
    return {"image": "", "name": name, "source": "", "status": "error", "message": message}


def index_row(name: str, sample: Sample) -> dict[str, Any]:
    """Return what the index says of an image that can be read."""
    height, width = sample.labels.shape
    return {
        "image": sample.source[:ID_LENGTH],
        "name": name,
        "source": sample.source,
        "status": "ok",
        "message": "",
        "height": height,
        "width": width,
        "hash": perceptual_hash(sample.image.numpy()),
    }


def index(
    folder: Path, contest: Contest, progress: Progress, run_options: RunOptions, sharing: Sharing
) -> pa.Table | None:
    """Note ids by content, sizes, fingerprints; mark copies and unreadable files. The blocks make it resumable.

    Return nothing where other processes that share the folder have blocks left to do."""
    data = contest.data()
    names = data.ids()
    firsts = range(0, len(names), BLOCK)
    blocks = [IndexBlock(tuple(names[first : first + BLOCK]), number) for number, first in enumerate(firsts)]

    def find() -> list[IndexBlock]:
        todo = [block for block in blocks if not block_path(folder, block.names).exists()]
        progress.begin(sum(len(block.names) for block in todo))
        return todo

    work = IndexWork(folder, json.dumps(datasets.spec(data), sort_keys=True), tuple(contest.plugins))
    files = named_files(contest.plugins)
    executor = start_executor(run_options, contest.numerics.threads, progress.warn, files)
    for todo in sharing.rounds("index", find):
        for block in executor.map(work, todo):
            sharing.finish("index", block)
            progress.advance(len(block.names))
    if not sharing.complete:
        return None
    table = pa.concat_tables([read_table(block_path(folder, block.names)) for block in blocks])
    table = _mark_copies(table.sort_by([("image", "ascending"), ("name", "ascending")]))
    if "ok" not in table["status"].to_pylist():
        raise BadInput(f"pool {data.name}: none of its {len(names)} images can be read; {table['message'][0]}")
    write_table(folder / "index.parquet", table)
    return table


def _mark_copies(table: pa.Table) -> pa.Table:
    """Count only the first name of images with the same content; they are neighbours, sorted by id."""
    images, names, status, messages = (table[name].to_pylist() for name in ("image", "name", "status", "message"))
    first = 0
    for row in range(1, len(images)):
        if images[row] != images[first]:
            first = row
        elif status[row] == "ok":
            status[row], messages[row] = "duplicate", f"the same content as {names[first]}"
    for name, values in (("status", status), ("message", messages)):
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values))
    return table
