"""A streamed pool on Ray, by our own units beside Ray Data: images a second, and CPU time of all processes.

    python bench/ray_data.py                            # 8,192 images, three alternating runs of both
    python bench/ray_data.py --images 100 --repeats 1   # only to see that it works: one unit, so one worker of ours

Ray Data needs pandas, which segstress does not: use an environment of its own, with segstress[ray] and pandas.

Both read the same Parquet files and do the same with an image: decode it, let both models look, compare their maps,
keep candidates and histograms; what they come to must be equal. Ours also writes every unit's total to a file, so that
a kill costs little; Ray Data's totals go to the driver alone. Every run has a process, and a Ray, of its own. A quarter
of the pool is gone through too: what the rest takes beyond it is free of start-up.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from PIL import Image

from segstress.contests.compete import Competition, begin
from segstress.contests.index import index_row
from segstress.contests.plan import read_contest
from segstress.contests.predict import open_pool
from segstress.contests.predictor import Predictor
from segstress.contests.select import fixed_bounds
from segstress.contests.stream import BLOCK, UNIT, StreamWork
from segstress.contests.stream_total import Row, StreamTotal
from segstress.core.system import cores
from segstress.data import Sample, datasets, load, resize
from segstress.data.reading import decode_image
from segstress.data.sample import unlabelled
from segstress.runtime import Progress, RunOptions
from segstress.runtime.ray_cluster import Cluster

MODELS = ["compact:cnn-normal", "compact:transformer-normal"]
WORKERS = 2
SIDE = 64  # pixels of an image
ROWS = 256  # of a file, and of what an actor of Ray Data takes at a time
PART = 4  # the small pool is so small a part of the whole one
SAMPLING = 0.25  # seconds between two looks at the CPU time of a run's processes
NEEDED = "Ray Data needs pandas, found none: pip install pandas in an environment of its own, with segstress[ray]"


class Cost(NamedTuple):
    """Seconds that a run took."""

    wall: float
    cpu: float  # of all its processes, start-up included


class Looker:
    """An actor of Ray Data: both models, loaded once."""

    def __init__(self, work: StreamWork) -> None:
        torch.set_num_threads(work.predictor.numerics.threads)
        self.work, self.data = work, open_pool(work.pool)
        self.models = [work.predictor.model(entrant) for entrant in work.entrants]

    def __call__(self, rows: pa.Table) -> dict[str, list[bytes]]:
        """Return what the images of some rows come to."""
        total, faults, images = self.work.empty(), list[str](), dict(self._read(rows))
        names = list(images)
        for first in range(0, len(names), BLOCK):
            block = {name: images[name] for name in names[first : first + BLOCK]}
            total.join(self.work._total(self.work._predict(self.models, block), faults))
        if faults:
            raise ValueError(faults[0])
        return {"total": [total.to_bytes()]}

    def _read(self, rows: pa.Table) -> Iterator[tuple[str, tuple[Row, Sample]]]:
        column = rows["image"].combine_chunks()
        for name, data in zip(column.field("path"), column.field("bytes"), strict=True):
            path = Path(name.as_py())
            sample = unlabelled(str(path), decode_image(path, data.as_py(), self.data.encoding))
            yield sample.id, (index_row(sample.id, sample), resize(sample, self.data.resize))


def by_units(competition: Competition, pool: Path) -> StreamTotal:
    """Do what `segstress mad stream --executor ray` does."""
    return competition.stream(Progress(), RunOptions(workers=WORKERS, executor="ray"))[1]


def by_ray_data(competition: Competition, pool: Path) -> StreamTotal:
    """Let Ray Data read the rows and hand them to actors; the driver joins the totals."""
    import ray

    Cluster(WORKERS + 1).connect()  # actors hold their cores to the end, so its tasks that read need another
    ray.data.DataContext.get_current().enable_progress_bars = False
    contest, entrants, words = competition.contest, tuple(competition.entrants), competition.vocabulary
    spec, bounds = json.dumps(datasets.spec(contest.data())), fixed_bounds(contest, len(entrants), words)
    predictor = Predictor(words, contest.numerics)
    work = StreamWork(competition.folder, spec, entrants, predictor, contest.metric, contest.rule, bounds)
    rows = ray.data.read_parquet(str(pool), columns=["image"])
    found = rows.map_batches(
        Looker,
        fn_constructor_args=(work,),
        batch_size=ROWS,
        batch_format="pyarrow",
        concurrency=WORKERS,
        num_cpus=contest.numerics.threads,
    )
    total = work.empty()
    for row in found.iter_rows():
        total.join(work.empty().load(row["total"]))
    return total


WAYS = {"our units": by_units, "Ray Data": by_ray_data}


def run(way: str, pool: Path) -> None:
    """Go through a pool in one way; print seconds from the start of Ray on, and what came out of it."""
    with tempfile.TemporaryDirectory() as place:
        contest = read_contest({"models": MODELS, "pool": f"parquet:{pool}", "scale": "none"})
        competition = begin(contest, Path(place), streamed=True)
        begun = time.perf_counter()
        total = WAYS[way](competition, pool)
        seconds = time.perf_counter() - begun
    found = (total.candidates.images, total.candidates.scores, total.candidates.shares, total.shares.tally)
    content = hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest()
    print(json.dumps([seconds, [content, total.counters]]))


def measure(way: str, pool: Path) -> tuple[Cost, object]:
    """Do so in a process of its own, and look at the CPU time of all processes that it starts."""
    import ray  # noqa: F401 - brings the psutil of the next line
    import psutil  # isort: skip

    spent: dict[int, float] = {}
    command = [sys.executable, __file__, "--one", way, str(pool)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        root = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                for each in (root, *root.children(recursive=True)):
                    spent[each.pid] = sum(each.cpu_times()[:2])
            except psutil.Error:  # it has just ended
                pass
            time.sleep(SAMPLING)
        printed = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"{way} ended with exit code {process.returncode}")
    seconds, found = json.loads(printed.splitlines()[-1])
    return Cost(seconds, sum(spent.values())), found


def write(folder: Path, images: int) -> Path:
    """Make a pool of scenes: PNG files in rows, as Hugging Face writes them."""
    folder.mkdir()
    scenes = load(f"shapes:pool?count={images}&size={SIDE}")
    names = scenes.ids()
    for first in range(0, images, ROWS):
        rows = [
            {"bytes": _png(scenes.read(name)), "path": f"{first + number}.png"}
            for number, name in enumerate(names[first : first + ROWS])
        ]
        pq.write_table(pa.table({"image": rows}), folder / f"{first:09}.parquet")
    return folder


def _png(sample: Sample) -> bytes:
    buffer = io.BytesIO()
    pixels = np.round(sample.image.numpy().transpose(1, 2, 0) * 255).astype(np.uint8)
    Image.fromarray(pixels).save(buffer, "png")
    return buffer.getvalue()


def compare(images: int, repeats: int) -> None:
    """Print what both ways take."""
    few, costs, found = images // PART, dict[tuple[str, int], list[Cost]](), dict[int, list[object]]()
    with tempfile.TemporaryDirectory() as place:
        pools = {number: write(Path(place) / str(number), number) for number in (few, images)}
        for _ in range(repeats):
            for number, pool in pools.items():
                for way in WAYS:
                    cost, result = measure(way, pool)
                    costs.setdefault((way, number), []).append(cost)
                    found.setdefault(number, []).append(result)
    medians = {key: Cost(*map(statistics.median, zip(*taken, strict=True))) for key, taken in costs.items()}
    rates = []
    print(f"| way | seconds, {few:,} images | seconds, {images:,} | images/s | without start-up | CPU ms an image |")
    print("|---|---:|---:|---:|---:|---:|")
    for way in WAYS:
        part, whole = medians[way, few], medians[way, images]
        beyond = Cost(*((after - before) / (images - few) for before, after in zip(part, whole, strict=True)))
        rates.append((images / whole.wall, 1 / beyond.wall, 1000 * beyond.cpu))
        shown = " | ".join(f"{value:.1f}" for value in (part.wall, whole.wall, *rates[-1]))
        print(f"| {way} | {shown} |")
    ratios = [ours / theirs for ours, theirs in zip(*rates, strict=True)]
    print("our units beside Ray Data: images/s {:.3f}, without start-up {:.3f}; CPU time {:.3f}".format(*ratios))
    print(f"all came to the same: {all(one == results[0] for results in found.values() for one in results)}")


def main() -> None:
    """Measure; --one is for the processes that this one starts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=8 * UNIT)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "POOL"))
    given = parser.parse_args()
    if importlib.util.find_spec("pandas") is None:
        print(NEEDED, file=sys.stderr)
        raise SystemExit(2)
    if given.one:
        run(given.one[0], Path(given.one[1]))
    else:
        load_average = os.getloadavg()[0]
        print(
            f"{cores()} cores, load {load_average:.1f}, {WORKERS} workers, medians of {given.repeats} runs", flush=True
        )
        compare(given.images, given.repeats)


if __name__ == "__main__":
    main()
