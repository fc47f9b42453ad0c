"""An editor who knows the checksums: changes stored results and makes everything fit again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from segstress.results.run import Run
from segstress.results.seal import seal_run, unseal
from segstress.runtime import Store, write_text
from segstress.runtime.shard_files import shard_files, write_sums


def as_earlier(folder: Path) -> Store:
    """Make of a folder what version 1 of the schema had: no checksums."""
    for path in [*folder.glob("cells/*/sums-*.json"), *folder.glob("cells/*/manifest.json"), folder / "seal.json"]:
        path.unlink(missing_ok=True)
    for path in folder.glob("cells/*/cell.json"):
        plain = json.loads(path.read_text())
        path.write_text(json.dumps({key: value for key, value in plain.items() if key not in ("schema", "checksum")}))
    return Store(folder)


def edit_plan(folder: Path, change: Callable[[str], str]) -> None:
    """Change a run's plan."""
    path = folder / "plan.yaml"
    write_text(path, change(path.read_text().partition("\n")[2]))
    fit(folder)


def edit_rows(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the rows of a table."""
    table = pq.read_table(path)
    pq.write_table(pa.Table.from_pylist([change(row) for row in table.to_pylist()], table.schema), path)


def unkept(folder: Path) -> list[str]:
    """Return the attacked images without a kept picture, in order."""
    run = Run(folder)
    cell = next(cell for cell in run.cells if cell.perturbation["kind"] == "attack")
    return sorted(set(run.images(cell)["image"].to_pylist()) - set(run.kept(cell)))


def worsen(folder: Path, images: Collection[str]) -> None:
    """Make attacked images look worse by a pixel in counts and rows, with checksums, manifest and seal to match."""
    worse: set[str] = set()
    for path in sorted(folder.glob("cells/*linf*/images-*.parquet")):
        worse |= _worsen_shard(path, path.with_name(path.name.replace("images", "counts", 1)), images)
    assert worse == set(images), "some have no pixel to lose"
    fit(folder)


def _worsen_shard(rows: Path, counts: Path, images: Collection[str]) -> set[str]:
    right: dict[tuple[str, str], int] = {}
    worse: set[tuple[str, str]] = set()  # each image and goal once

    def count(row: dict[str, Any]) -> dict[str, Any]:
        key = row["image"], row["goal"]
        if row["image"] not in images or (row["zone"], row["state"]) != ("all", "perturbed"):
            return row
        if key not in worse and row["hits"]:
            worse.add(key)
            row = row | {"hits": row["hits"] - 1}
        right[key] = right.get(key, 0) + row["hits"]
        return row

    def score(row: dict[str, Any]) -> dict[str, Any]:
        correct = right.get((row["image"], row["goal"]))
        return row if correct is None else row | {"correct": correct, "damage": 1 - correct / row["valid"]}

    edit_rows(counts, count)
    edit_rows(rows, score)
    return {image for image, _ in worse}


def fit(folder: Path) -> None:
    """Write checksums, manifests and seal anew, as if nothing had been changed."""
    unseal(Run(folder))
    for place in (folder / "cells").iterdir():
        for stem, paths in shard_files(place).items():
            write_sums(place, stem, {p.name: p.read_bytes() for p in paths if not p.name.startswith("sums")})
    seal_run(Run(folder))
