"""Ray beside worker processes: speed-up of two workers, cost beside Local, memory of the driver.

    python bench/ray_speed.py                           # jobs of 6 minutes on one worker, three alternating runs
    python bench/ray_speed.py --images 8 --steps 4 --repeats 1 --units 1000,10000

Times are wall times of `map` from the first answer on, when every model is loaded: start-up is left out. Both executors
are given the same units, the runs alternate, and the medians are compared; the tables must be equal byte for byte.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import operator
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from segstress.core.system import peak_memory
from segstress.evaluation import evaluate
from segstress.evaluation.report import report
from segstress.runtime import Progress, RunOptions
from segstress.runtime.ray_cluster import Cluster
from segstress.runtime.ray_executor import Ray

BATCH = 2  # images of a unit
WAYS = {"ray-1": ("ray", 1), "ray-2": ("ray", 2), "local-2": ("local", 2)}


def attack(way: str, images: int, steps: int, folder: Path) -> float:
    """Carry out the job in one way; return the seconds from the first answer of every worker to the last answer."""
    executor, workers = WAYS[way]
    plan = {
        "models": ["compact:cnn-normal"],
        "data": [f"shapes:test?count={images}"],
        "perturbations": [f"pgd?steps={steps}"],
        "eps": "8/255",
        "numerics": {"batch_size": BATCH},
    }
    options = RunOptions(workers=workers, shard_size=BATCH, executor=executor)
    times: list[float] = []
    evaluate(plan, folder, options, Progress(advance=lambda number, words="": times.append(time.perf_counter())))
    skipped = 2 * workers  # answers of workers that were still starting
    return (times[-1] - times[skipped]) / (len(times) - 1 - skipped)


def tables(folder: Path) -> dict[str, bytes]:
    """Return the exported tables of a run."""
    report([folder])
    return {path.name: path.read_bytes() for path in sorted((folder / "report" / "tables").iterdir())}


def speed(images: int, steps: int, repeats: int) -> None:
    """Print seconds per unit in every way, and their ratios; each run has a process of its own."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as place:
        for number in range(repeats):
            for way in WAYS:
                folder = Path(place) / f"{way}-{number}"
                job = ["--images", str(images), "--steps", str(steps)]
                command = [sys.executable, __file__, "--one", way, str(folder), *job]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds[way].append(json.loads(done.stdout.splitlines()[-1]))
        found = [tables(Path(place) / f"{way}-0") for way in WAYS]
    medians = {way: statistics.median(values) for way, values in seconds.items()}
    print("| way | seconds per unit, median |\n|---|---:|")
    for way, median in medians.items():
        print(f"| {way} | {median:.4f} |")
    print(f"the job takes {medians['ray-1'] * 2 * -(-images // BATCH) / 60:.1f} minutes of one worker (at least 5)")
    print(f"two Ray workers against one: {medians['ray-1'] / medians['ray-2']:.2f} (at least 1.7)")
    print(f"Ray beside Local, two workers: {medians['ray-2'] / medians['local-2']:.3f} (at most 1.05)")
    print(f"tables equal byte for byte: {all(each == found[0] for each in found)}", flush=True)


def memory(units: int) -> None:
    """Print the peak memory of a driver that hands out so many empty units."""
    answered = sum(1 for _ in Ray(Cluster(2)).map(operator.neg, range(units)))
    print(json.dumps([answered, peak_memory()]))


def growth(sizes: list[int]) -> None:
    """Print how the driver's memory grows with the number of units."""
    peaks = []
    for units in sizes:
        command = [sys.executable, __file__, "--memory", str(units)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        answered, peak = json.loads(done.stdout.splitlines()[-1])
        peaks.append(peak / 2**20)
        print(f"{answered} units: driver's peak {peaks[-1]:.0f} MiB", flush=True)
    print(f"growth: {peaks[-1] - peaks[0]:.0f} MiB (at most 100)")


def main() -> None:
    """Measure; --one and --memory are for the processes that this one starts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=600)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--units", default="1000,10000,100000")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FOLDER"))
    parser.add_argument("--memory", type=int)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(attack(given.one[0], given.images, given.steps, Path(given.one[1]))))
    elif given.memory:
        memory(given.memory)
    else:
        print(f"{multiprocessing.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        speed(given.images, given.steps, given.repeats)
        growth([int(size) for size in given.units.split(",")])


if __name__ == "__main__":
    main()
