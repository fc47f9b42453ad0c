"""How the memory of the process that hands out a real plan's units grows with their number; nothing is attacked.

    python bench/units.py [--images 1000,10000,100000]

Everything an evaluation does is done, from reading the plan on, but units, of one image each, are answered at once by
an executor that only packs them, as for a worker, and says that every attack has left each image some pixels. Each
size has a process of its own, whose peak is taken.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from segstress.core.system import peak_memory
from segstress.evaluation import run
from segstress.evaluation.worst_so_far import Left
from segstress.planning import read_plan
from segstress.runtime import RunOptions, Unit

PLANS: dict[str, dict[str, Any]] = {
    "battery strong": {"battery": "strong"},
    "five single attacks": {"perturbations": [f"pgd?steps={steps}" for steps in range(1, 6)]},
}


class Ready:
    """An executor that has every answer at once."""

    def map(self, work: Callable[[Unit], Any], units: Iterable[Unit]) -> Iterator[tuple[Unit, list[Any], list[Left]]]:
        """Yield units as they come back from a worker."""
        for unit in map(pickle.loads, map(pickle.dumps, units)):
            steps = [((cell.names["model"], cell.names["data"]), ids) for cell, ids in unit.steps]
            left = [Left(names, id_, 5, 256) for names, ids in steps for id_ in ids]
            yield unit, [], left


def measure(name: str, images: int) -> tuple[int, int]:
    """Hand out the units of a plan on so many images; return how many there were, and the peak in bytes."""
    asked = {"models": ["compact:cnn-normal"], "data": [f"shapes:test?count={images}&size=16"], "eps": "8/255"}
    plan = read_plan({**asked, **PLANS[name], "numerics": {"batch_size": 1}})
    units = 0

    def advance(number: int, words: str = "") -> None:
        nonlocal units
        units += 1

    run.start_executor = lambda *given: Ready()
    run.close = lambda *given: None
    with tempfile.TemporaryDirectory() as folder:
        run.evaluate(plan, folder, RunOptions(workers=1, shard_size=1), run.Progress(advance=advance))
    return units, peak_memory()


def main() -> None:
    """Measure; --one is for the processes that this one starts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", default="1000,10000,100000")
    parser.add_argument("--one", nargs=2, metavar=("PLAN", "IMAGES"))
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], int(given.one[1]))))
        return
    print("| plan | images | units | peak, MiB | grew by, MiB | seconds |\n|---|---:|---:|---:|---:|---:|")
    for name in PLANS:
        first = 0.0
        for images in given.images.split(","):
            began = time.perf_counter()
            command = [sys.executable, str(Path(__file__)), "--one", name, images]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            units, peak = json.loads(done.stdout.splitlines()[-1])
            first = first or peak
            figures = f"{peak / 2**20:.0f} | {(peak - first) / 2**20:.0f} | {time.perf_counter() - began:.0f}"
            print(f"| {name} | {images} | {units:,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
