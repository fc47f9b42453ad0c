"""What a competition costs: agreement of all pairs, selection from stored scores.

`python bench/competition.py --images 1000000` writes about 1 GB of made-up scores into a temporary folder. The last
figure, growth to ten million images, needs no files: scores are drawn shard by shard.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from scipy.ndimage import zoom

from segstress.competition.discrepancy import pair_counts
from segstress.competition.select import Candidates, Rule
from segstress.competition.thresholds import any_size
from segstress.competition.vocabulary import Vocabulary
from segstress.contests.plan import Entrant, read_contest
from segstress.contests.select import select
from segstress.contests.store import INDEX, ROWS, ContestStore, write_table

MODELS, CLASSES, SIDE = 10, 21, 512
PAIR_LIMIT, GROWTH_LIMIT, MEMORY_LIMIT = 0.75, 12.0, 2.0  # ratios, and GiB
SHARD = 10_000
FIELD = [Entrant(f"model{number}", {}, "0") for number in range(MODELS)]
WORDS = Vocabulary(tuple(f"class {number}" for number in range(CLASSES)), background=0)


def paired(ours: Callable[[], object], theirs: Callable[[], object], pairs: int) -> tuple[float, float]:
    """Median CPU seconds of both, measured by turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(pairs):
        for work, found in zip((ours, theirs), seconds, strict=True):
            started = time.process_time()
            work()
            found.append(time.process_time() - started)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def network_like_maps() -> np.ndarray:
    """Smooth regions of seven classes that ten models draw almost alike; about 15 kB a map by zstd, networks give 5."""
    random = np.random.default_rng(0)
    shown = np.concatenate([[0], 1 + random.permutation(CLASSES - 1)[:6]])
    common = random.normal(size=(len(shown), 16, 16))
    coarse = [common + 0.4 * random.normal(size=common.shape) for _ in range(MODELS)]
    return np.stack([shown[zoom(each, (1, SIDE / 16, SIDE / 16), order=3).argmax(0)] for each in coarse]).astype(
        np.uint8
    )


def plain_bincounts(maps: np.ndarray) -> None:
    """One joint histogram for each pair, as everyone writes it."""
    for second in range(MODELS):
        for first in range(second):
            np.bincount(maps[first].ravel().astype(np.int64) * CLASSES + maps[second].ravel(), minlength=CLASSES**2)


def bench_pairs() -> bool:
    """Agreement of 45 pairs against 45 plain histograms."""
    maps = network_like_maps()
    ours, plain = paired(lambda: pair_counts(maps, CLASSES), lambda: plain_bincounts(maps), 15)
    ratio = ours / plain
    print(
        f"all 45 pairs at {SIDE}x{SIDE}: {1000 * ours:.1f} ms, plain {1000 * plain:.1f} ms, {ratio:.2f} <= {PAIR_LIMIT}"
    )
    return ratio <= PAIR_LIMIT


def write_scores(folder: Path, images: int) -> None:
    """An index, histograms and agreements of made-up predictions."""
    random = np.random.default_rng(0)
    ids = np.array([f"{number:016x}" for number in range(images)])
    nothing = pa.array([""] * images)
    columns = {"image": ids, "name": ids, "source": nothing, "status": pa.array(["ok"] * images), "message": nothing}
    columns |= {
        "height": np.full(images, SIDE),
        "width": np.full(images, SIDE),
        "hash": random.integers(2**63, size=images),
    }
    write_table(folder / "index.parquet", pa.table(columns).cast(INDEX))
    store = ContestStore(folder, SHARD)
    for part in store.parts():
        count = len(part.images)
        for place, entrant in enumerate(FIELD):
            classes = np.stack([random.permutation(CLASSES)[:3] for _ in range(64)])[random.integers(64, size=count)]
            pixels = random.integers(1, SIDE**2 // 3, size=(count, 3))
            lists = (
                pa.ListArray.from_arrays(np.arange(0, 3 * count + 1, 3), flat.ravel()) for flat in (classes, pixels)
            )
            empty = pa.array([""] * count)
            rows = [pa.array(part.images), pa.array(["ok"] * count), empty, pa.array(np.full(count, SIDE**2)), *lists]
            write_table(store.part_file(entrant, "rows", part), pa.table(rows, names=ROWS.names).cast(ROWS))
            if place:
                scores = np.repeat(random.random((count, place, 1)), 2, axis=2)
                store.write_pairs(entrant, part, "miou", FIELD[:place], scores)


def timed_select(folder: Path) -> None:
    """Select once and print CPU seconds and peak memory; run in a process of its own."""
    contest = read_contest({"models": ["a", "b"], "pool": "shapes:pool", "shard_size": SHARD})
    started = time.process_time()
    select(ContestStore(folder, SHARD), contest, FIELD, WORDS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps([time.process_time() - started, peak]))


def bench_select(folder: Path, images: int) -> bool:
    """Time and memory of the selection for a tenth of the images and for all."""
    found = []
    for count in (images // 10, images):
        place = folder / str(count)
        write_scores(place, count)
        answer = subprocess.run(
            [sys.executable, __file__, "--select", place], check=True, capture_output=True, text=True
        )
        seconds, peak = json.loads(answer.stdout)
        print(f"select from {count:,} images x {MODELS} models: {seconds:.1f} s, peak {peak:.2f} GiB <= {MEMORY_LIMIT}")
        found.append((seconds, peak))
    growth = found[1][0] / found[0][0]
    print(f"ten times the images take {growth:.1f} times as long <= {GROWTH_LIMIT}")
    return growth <= GROWTH_LIMIT and found[1][1] <= MEMORY_LIMIT


def bench_growth(images: int) -> None:
    """Candidates alone, over scores drawn shard by shard: seconds for each tenth of the walk."""
    random = np.random.default_rng(0)
    bounds = any_size(MODELS, CLASSES)
    candidates = Candidates(MODELS, CLASSES, Rule())
    shares = random.random((SHARD, MODELS, CLASSES), dtype=np.float32) * (
        random.random((SHARD, MODELS, CLASSES)) < 0.15
    )
    tenths = [0.0] * 10
    shards = images // SHARD
    for shard in range(shards):
        scores = random.random((SHARD, MODELS, MODELS), dtype=np.float32)
        names = np.char.mod("%016x", np.arange(shard * SHARD, (shard + 1) * SHARD)).astype("S16")
        started = time.process_time()
        candidates.add(names, shares.astype(np.float32), scores, bounds)
        tenths[10 * shard // shards] += time.process_time() - started
    print(f"{images:,} simulated images, seconds for each tenth: {', '.join(f'{each:.1f}' for each in tenths)}")


def main() -> None:
    """Every figure; the exit code says whether all limits hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100_000, help="of the selection")
    parser.add_argument("--simulated", type=int, default=1_000_000, help="of the growth without files")
    parser.add_argument("--select", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.select:
        timed_select(given.select)
        return
    with tempfile.TemporaryDirectory() as folder:
        held = [bench_pairs(), bench_select(Path(folder), given.images)]
    bench_growth(given.simulated)
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
