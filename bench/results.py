"""How reading a run grows: time and peak memory of its studies, figures and whole report, from synthetic shards.

Command: python bench/results.py [--images 1000,10000] [--cells 12] [--shard 100] [--part studies|figures|report].
Each size is read in a fresh process; CPU time. Limit: ten times the images take at most 12 times the time, and 10^5
images less than 2 GiB; the page of a report stays below 3 MB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from segstress.core import perturbations, to_plain
from segstress.core.system import peak_memory
from segstress.evaluation.report import figures, report, studies
from segstress.planning import read_plan
from segstress.runtime import SCHEMAS, Cell, Numerics, Store, record
from segstress.runtime.parquet import table_bytes
from segstress.runtime.shard_files import write_sums

CLASSES = 7
PIXELS = 96 * 96
OBJECTS = 5
GOALS = ("accuracy", "miou")
LIMIT = 12.0
GIB = 2**30
PARTS: dict[str, Callable[[list[Path]], object]] = {"studies": studies, "figures": figures, "report": report}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", default="1000,10000")
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--shard", type=int, default=100)
    parser.add_argument("--part", choices=list(PARTS), default="figures")
    parser.add_argument("--read", type=Path)
    given = parser.parse_args()
    if given.read:
        read(given.read, given.part)
        return
    taken: list[float] = []
    print(f"{given.cells} cells of {CLASSES} classes, {given.shard} images a shard, read up to its {given.part}")
    for images in map(int, given.images.split(",")):
        with tempfile.TemporaryDirectory() as place:
            write(Path(place), images, given.cells, given.shard)
            command = [sys.executable, __file__, "--read", place, "--part", given.part]
            done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        page = f", page {done['page'] / 1e6:.2f} MB" if done["page"] else ""
        print(f"{images:>7} images: {done['seconds']:7.2f} s CPU, peak {done['peak'] / GIB:.2f} GiB{page}", flush=True)
        taken.append(done["seconds"])
    for before, after in pairwise(taken):
        print(f"growth {after / before:.1f} (limit {LIMIT:g})")


def read(folder: Path, part: str) -> None:
    """Read a run and print what that cost."""
    before = time.process_time()
    done = PARTS[part]([folder])
    seconds = time.process_time() - before
    page = done.stat().st_size if isinstance(done, Path) else 0
    print(json.dumps({"seconds": seconds, "peak": peak_memory(), "page": page}))


def write(folder: Path, images: int, cells: int, shard: int) -> None:
    """A run of one model: clean and so many attacks, with counts drawn at random."""
    attacks = [f"pgd?steps={number}" for number in range(1, cells)]
    plan = read_plan(
        {"models": ["compact:cnn-normal"], "data": ["shapes:test"], "perturbations": attacks, "eps": "8/255"}
    )
    folder.joinpath("plan.yaml").write_text(yaml.safe_dump(to_plain(plan)))
    record(folder, Numerics())
    (store, generator) = Store(folder), np.random.default_rng(0)
    for change in plan.changes():
        cell = Cell(
            names={"model": "cnn-normal", "data": "shapes-test", "perturbation": change.label},
            model={"kind": "compact", "name": "cnn-normal"},
            data={"kind": "shapes"},
            perturbation=perturbations.spec(change),
            seed=0,
            fingerprints={"model": "m", "data": "d"},
            dataset_info={
                "classes": [f"class {k}" for k in range(CLASSES)],
                "background": 0,
                "void": "",
                "palette": [],
            },
        )
        store.begin(cell)
        goals = GOALS if change.threat else ("any",)
        for first in range(0, images, shard):
            ids = [f"image-{number:07d}" for number in range(first, min(first + shard, images))]
            stem, made = f"{first:07d}", tables(ids, goals, generator)
            files = {f"{name}-{stem}.parquet": table_bytes(table) for name, table in made.items()}
            for name, data in files.items():
                (store.cell_folder(cell) / name).write_bytes(data)  # not synced: what is measured is reading
            write_sums(store.cell_folder(cell), stem, files)
    store.write_request(store.cells(), {"d": [f"image-{number:07d}" for number in range(images)]})


def tables(ids: list[str], goals: tuple[str, ...], generator: np.random.Generator) -> dict[str, pa.Table]:
    """Counts, objects and rows of some images."""
    n, g, k = len(ids), len(goals), CLASSES
    image = np.repeat(ids, g)
    rows = {
        name: pa.nulls(n * g, field.type)
        for name, field in zip(SCHEMAS["images"].names, SCHEMAS["images"], strict=True)
    }
    rows |= {"image": image, "goal": np.tile(goals, n), "status": ["ok"] * (n * g)}
    rows |= {name: [""] * (n * g) for name in ("message", "finisher", "source")}
    whole = {
        "forwards": 40,
        "backwards": 40,
        "seed": 0,
        "height": 96,
        "width": 96,
        "valid": PIXELS,
        "correct": PIXELS // 2,
    }
    rows |= {name: np.full(n * g, value) for name, value in whole.items()}
    rows |= {name: generator.random(n * g) for name in ("size", "linf", "l2", "l1", "damage")}
    zones = [(state, zone) for state in ("clean", "perturbed") for zone in ("all", "foreground")]
    hits, wrong, missed = (generator.integers(0, 500, (n, g, len(zones), k)) for _ in range(3))
    clean = np.random.default_rng(int(ids[0].removeprefix("image-")))  # the same under every attack and goal
    for numbers in (hits, wrong, missed):
        numbers[:, :, :2] = clean.integers(0, 500, (n, 1, 2, k))
    counts = {
        "image": np.repeat(image, len(zones) * k),
        "goal": np.repeat(np.tile(goals, n), len(zones) * k),
        "state": np.tile(np.repeat([state for state, _ in zones], k), n * g),
        "zone": np.tile(np.repeat([zone for _, zone in zones], k), n * g),
        "class": np.tile(np.arange(k), n * g * len(zones)),
        "hits": hits.ravel(),
        "predicted": (hits + wrong).ravel(),
        "actual": (hits + missed).ravel(),
    }
    area = generator.integers(10, 1000, n * g * OBJECTS)
    objects = {
        "image": np.repeat(image, OBJECTS),
        "goal": np.repeat(np.tile(goals, n), OBJECTS),
        "object": np.tile(np.arange(OBJECTS), n * g),
        "class": generator.integers(1, k, n * g * OBJECTS),
        "area": area,
        "clean": area // 2,
        "correct": area // 3,
        "kept": area // 4,
    }
    plain = {"counts": counts, "objects": objects, "images": rows}
    return {name: pa.table(columns).select(SCHEMAS[name].names).cast(SCHEMAS[name]) for name, columns in plain.items()}


if __name__ == "__main__":
    main()
