"""One digest over what was asked and what was found, equal for equal runs; the surroundings have their own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core import BadInput, digest
from ..runtime import SCHEMAS, Cell, read_json, write_json
from ..runtime.shard_files import MANIFEST, read_manifest, write_manifest
from .run import Run
from .studies import read_choices
from .study import Study

SEAL = "seal.json"
NOTES = "doctor.json"  # what speaks against the figures, written before the seal
LENGTH = 32  # hex digits
HELD = 2**16  # words of a column that are held as text
DESCRIBED = ("classes", "background", "void")  # of a dataset, on which figures depend
DATED = ("begun",)  # of the surroundings, what says nothing about rounding


@dataclass(frozen=True)
class Seal:
    """What a paper can quote."""

    seal: str
    environment_seal: str


def seal_run(run: Run) -> Seal:
    """Write the manifest of every cell, then the seal of the run."""
    contents = {}
    for cell in run.cells:
        contents[cell.key] = content(run, cell)
        write_manifest(run.store.cell_folder(cell), contents[cell.key], run.store.stems(cell))
    seal = compute(run, contents)
    write_json(run.folder / SEAL, asdict(seal))
    return seal


def unseal(run: Run) -> None:
    """Take seal and manifests away, since the run goes on."""
    for path in (run.folder / SEAL, *run.folder.glob(f"cells/*/{MANIFEST}")):
        path.unlink(missing_ok=True)


def read_seal(run: Run) -> tuple[Seal | None, str]:
    """Return the seal that a run bears, and why it does not hold; it is compared with the manifests, not with rows."""
    path = run.folder / SEAL
    if any(run.store.schema(cell) == 1 for cell in run.cells):
        return None, ""
    if not path.exists():
        return None, f"{path.name} is missing: the run was not finished; run the same command again"
    if not (run.folder / NOTES).exists():
        return None, f"{NOTES} is missing, and with it what may speak against the figures; run the same command again"
    plain = read_json(path)
    manifests = {cell.key: read_manifest(run.store.cell_folder(cell)) for cell in run.cells}
    lacking = [key for key, manifest in manifests.items() if manifest is None]
    if lacking:
        return None, f"cells/{lacking[0]}/{MANIFEST} is missing; run the same command again"
    seal = compute(run, {key: manifest[0] for key, manifest in manifests.items() if manifest})
    if asdict(seal) != plain:
        return None, f"{path.name} does not fit the run's plan, surroundings or manifests; run segstress verify"
    return seal, ""


def sealed(study: Study, run: Run) -> Study:
    """Return the study with the seal of its run, or with the reason why it bears none."""
    seal, reason = read_seal(run)
    study = replace(study, damage=(*study.damage, *([reason] if reason else ())))
    if seal is None:
        return study
    printed = {"seal": seal.seal, "seal of the environment": seal.environment_seal}
    return replace(study, provenance={**study.provenance, **printed}, **asdict(seal))


def compute(run: Run, contents: Mapping[str, str]) -> Seal:
    """Return the seal of a run whose cells have these contents, by their keys."""
    cells, images = run.store.read_request()
    plain = {
        "cells": {cell.identity: _described(cell) for cell in cells},
        "images": {data: digest(list(ids), LENGTH) for data, ids in images.items()},
        "done_at": run.plan.done_at,
        "exhaustive": run.plan.exhaustive,
        "choices": _choices(run),
        "contents": {cell.identity: contents[cell.key] for cell in run.cells},
    }
    surroundings = {key: value for key, value in run.environment.items() if key not in DATED}
    return Seal(digest(plain, LENGTH), digest(surroundings, LENGTH))


def content(run: Run, cell: Cell) -> str:
    """Return the digest of all that a cell's shards hold, however it is cut into shards."""
    tables = {name: _table(run.store.table(cell, name)) for name in SCHEMAS}
    arrays = {
        f"{name}|{key}": _array(array)
        for name in ("kept", "maps")
        for batch in run.store.batches(cell, name)
        for key, array in batch.items()
    }
    return digest([tables, arrays], LENGTH)


def check_whole(run: Run) -> Run:
    """Return the run, or refuse it where files were changed, lost or added since they were written."""
    if run.damage:
        more = f" (and {len(run.damage) - 1} more)" if len(run.damage) > 1 else ""
        raise BadInput(f"{run.folder}: {run.damage[0]}{more}; run the same command again to have it computed anew")
    return run


def _described(cell: Cell) -> dict[str, Any]:
    return {name: cell.dataset_info.get(name) for name in DESCRIBED}


def _choices(run: Run) -> list[dict[str, Any]]:
    """Return what audits chose, with cells by what is asked of them."""
    keys = {cell.key: cell.identity for cell in run.cells}
    return [
        choice.plain() | {name: [keys.get(key, key) for key in getattr(choice, name)] for name in ("kept", "dropped")}
        for choice in read_choices(run.folder)
    ]


def _table(table: pa.Table) -> str:
    """Hash rows by their values, column by column: nulls, then lengths and characters, or numbers."""
    hashed = hashlib.blake2b(digest_size=LENGTH // 2)
    for name in (name for name in table.column_names if name != "batch"):  # how it ran, not what was found
        column = table[name]
        hashed.update(name.encode())
        hashed.update(np.packbits(column.is_null().to_numpy()).tobytes())
        if pa.types.is_string(column.type):
            hashed.update(pc.fill_null(pc.binary_length(column), 0).to_numpy().astype("<i8").tobytes())
            for first in range(0, len(column), HELD):
                hashed.update("".join(pc.fill_null(column[first : first + HELD], "").to_pylist()).encode())
        else:
            values = pc.fill_null(column, 0).to_numpy()
            hashed.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
    return hashed.hexdigest()


def _array(array: np.ndarray) -> str:
    head = f"{array.dtype.str} {array.shape}"
    return hashlib.blake2b(head.encode() + np.ascontiguousarray(array).tobytes(), digest_size=LENGTH // 2).hexdigest()
