"""A streamed pool on Ray, by our own units beside Ray Data: images a second, and CPU time of all processes.

    python bench/ray_data.py                            # 8,192 images, three alternating runs of both
    python bench/ray_data.py --images 100 --repeats 1   # only to see that it works: one unit, so one worker of ours

Both read the same Parquet files and do the same with an image: decode it, let both models look, compare their maps,
keep candidates and histograms; what they come to must be equal. Ours also writes every unit's total to a file, so that
a kill costs little; Ray Data's totals go to the driver alone. Every run has a process, and a Ray, of its own. A quarter
of the pool is gone through too: what the rest takes beyond it is free of start-up. A unit of ours has 1,024 images,
so of fewer than 8,192 the quarter would leave one of our two workers idle.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
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

from segstress.contests.compete import begin
from segstress.contests.competition import Competition
from segstress.contests.index import index_row
from segstress.contests.plan import read_contest
from segstress.contests.predict import open_pool
from segstress.contests.predictor import Predictor
from segstress.contests.select import fixed_bounds
from segstress.contests.stream_total import Row, StreamTotal
from segstress.contests.stream_work import BLOCK, UNIT, StreamWork
from segstress.core.system import cores
from segstress.data import Sample, datasets, load, resize
from segstress.data.reading import decode_image
from segstress.data.sample import unlabelled
from segstress.runtime import Progress, RunOptions

MODELS = ["compact:cnn-normal", "compact:transformer-normal"]
WORKERS = 2
SIDE = 64  # pixels of an image
ROWS = 256  # of a file, and of what an actor of Ray Data takes at a time
PART = 4  # the small pool is so small a part of the whole one
SAMPLING = 0.25  # seconds between two looks at the CPU time of a run's processes


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

    def __call__(self, rows: pa.Table) -> dict[str, list[bytes | int]]:
        """Return what the images of some rows come to, and who looked at them."""
        total, faults, images = self.work.empty(), list[str](), dict(self._read(rows))
        names = list(images)
        for first in range(0, len(names), BLOCK):
            block = {name: images[name] for name in names[first : first + BLOCK]}
            total.join(self.work._total(self.work._predict(self.models, block), faults))
        if faults:
            raise ValueError(faults[0])
        return {"total": [total.to_bytes()], "actor": [os.getpid()]}

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

    from segstress.runtime.ray_cluster import Cluster

    Cluster(WORKERS + 1).connect()  # actors hold their cores to the end, so its tasks that read need another
    settings = ray.data.DataContext.get_current()
    settings.enable_progress_bars = False
    settings.use_datasource_v2 = False  # that reader joins files up to 128 MiB: one block here, for one actor alone
    files = len(list(pool.iterdir()))
    work = work_of(competition)
    totals = ray.data.read_parquet(str(pool), override_num_blocks=files).map_batches(
        Looker,
        fn_constructor_args=(work,),
        batch_size=ROWS,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=WORKERS),
        num_cpus=work.predictor.numerics.threads,
    )
    total, actors = work.empty(), set[int]()
    for row in totals.iter_rows():
        total.join(work.empty().load(row["total"]))
        actors.add(row["actor"])
    if len(actors) < WORKERS and files > 2 * WORKERS:
        raise SystemExit(f"Ray Data gave {files} files to {len(actors)} of {WORKERS} actors: no fair comparison")
    return total


def work_of(competition: Competition) -> StreamWork:
    """Return what `stream` sends to its workers."""
    contest, entrants, vocabulary = competition.contest, tuple(competition.entrants), competition.vocabulary
    pool, predictor = json.dumps(datasets.spec(contest.data())), Predictor(vocabulary, contest.numerics)
    bounds = fixed_bounds(contest, len(entrants), vocabulary)
    return StreamWork(competition.folder, pool, entrants, predictor, contest.metric, contest.rule, bounds)


WAYS = {"our units": by_units, "Ray Data": by_ray_data}


def run(way: str, pool: Path) -> None:
    """Go through a pool in one way; print seconds from the start of Ray on, and what came out of it."""
    with tempfile.TemporaryDirectory() as folder:
        contest = read_contest({"models": MODELS, "pool": f"parquet:{pool}", "scale": "none"})
        competition = begin(contest, Path(folder), streamed=True)
        begun = time.perf_counter()
        total = WAYS[way](competition, pool)
        seconds = time.perf_counter() - begun
    arrays = (total.candidates.images, total.candidates.scores, total.candidates.shares, total.shares.tally)
    content = hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
    print(json.dumps([seconds, [content, total.counters]]))


def measure(way: str, pool: Path) -> tuple[Cost, object]:
    """Do so in a process of its own, and look at the CPU time of all processes that it starts."""
    import ray  # noqa: F401 - brings the psutil of the next line
    import psutil  # isort: skip

    spent: dict[int, float] = {}
    command = [sys.executable, __file__, "--one", way, str(pool)]
    with tempfile.TemporaryFile("w+") as said:  # Ray Data says much
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True)
        root = psutil.Process(process.pid)
        while process.poll() is None:
            with contextlib.suppress(psutil.Error):  # one of them has just ended
                for member in (root, *root.children(recursive=True)):
                    spent[member.pid] = sum(member.cpu_times()[:2])
            time.sleep(SAMPLING)
        said.seek(0)
        if process.returncode:
            raise SystemExit(f"{said.read()}{way} ended with exit code {process.returncode}")
    seconds, outcome = json.loads(process.communicate()[0].splitlines()[-1])
    return Cost(seconds, sum(spent.values())), outcome


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
    few, costs, outcomes = images // PART, dict[tuple[str, int], list[Cost]](), dict[int, list[object]]()
    with tempfile.TemporaryDirectory() as folder:
        pools = {number: write(Path(folder) / str(number), number) for number in (few, images)}
        for _ in range(repeats):
            for number, pool in pools.items():
                for way in WAYS:
                    cost, outcome = measure(way, pool)
                    costs.setdefault((way, number), []).append(cost)
                    outcomes.setdefault(number, []).append(outcome)
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
    print(f"all came to the same: {all(one == alike[0] for alike in outcomes.values() for one in alike)}")


def main() -> None:
    """Measure; --one is for the processes that this one starts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=8 * UNIT)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "POOL"))
    given = parser.parse_args()
    if given.one:
        run(given.one[0], Path(given.one[1]))
    else:
        load_average = os.getloadavg()[0]
        print(
            f"{cores()} cores, load {load_average:.1f}, {WORKERS} workers, medians of {given.repeats} runs", flush=True
        )
        if given.images < PART * WORKERS * UNIT:
            print(f"too few images for figures, expected {PART * WORKERS * UNIT:,}: this only shows that both work")
        compare(given.images, given.repeats)


if __name__ == "__main__":
    main()
