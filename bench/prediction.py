"""What predicting and keeping label maps adds to the bare batched model: images a second, ratios of CPU and wall time.

    python bench/prediction.py [--model compact:cnn] [--size 512] [--images 16] [--pairs 9]

Bare is the same passes of the model, and the largest logit of each pixel, on images that are decoded already. One
thread computes; the two alternate, and medians are compared. Decoding JPEG files, encoding maps and writing them are
ours alone. Threads beside the model do that: CPU time has all of it, on however busy a machine; wall time, which is
images a second, shows it only where no core is free, and means something on a quiet machine only. Limit: 1.05.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from segstress.competition.vocabulary import Vocabulary
from segstress.contests.plan import Entrant
from segstress.contests.predict import ModelShard, PredictWork
from segstress.contests.store import Part
from segstress.data import Dataset, datasets, load
from segstress.data.sample import by_size
from segstress.metrics.counts import predict as labels_of
from segstress.models import models, ready
from segstress.planning.batching import images_per_pass, parameters
from segstress.runtime import Numerics

LIMIT = 1.05


def timed(work: Callable[[], object]) -> tuple[float, ...]:
    """Return seconds of some work: CPU of all threads, CPU of the model's, wall."""
    clocks = time.process_time, time.thread_time, time.perf_counter
    begun = [clock() for clock in clocks]
    work()
    return tuple(clock() - before for clock, before in zip(clocks, begun, strict=True))


def write_images(folder: Path, images: int, size: int) -> Dataset:
    """Make a pool of photographs, as files."""
    scenes = load(f"shapes:pool?count={images}&size={size}")
    for number, id_ in enumerate(scenes.ids()):
        pixels = np.round(scenes.read(id_).image.numpy().transpose(1, 2, 0) * 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:04}.jpg", quality=92)
    return load(f"folder:{folder}?images=.&masks=none")


def measure(place: Path, model: str, size: int, images: int, pairs: int) -> None:
    """Print what was measured."""
    (place / "pool").mkdir()
    data = write_images(place / "pool", images, size)
    entrant = Entrant("model", models.spec(models.build(model)), "0")
    network, _ = ready(entrant.spec, "cpu", torch.float32)
    together = images_per_pass(size * size, parameters(network))
    samples = [data.read(name) for name in data.ids()]
    with torch.no_grad():
        classes = network(samples[0].image[None]).shape[1]
    words = Vocabulary(tuple(f"class {number}" for number in range(classes)), 0)
    names = tuple(data.ids())
    pool, numerics = json.dumps(datasets.spec(data), sort_keys=True), Numerics(batch_size=together)
    work = PredictWork(place / "run", pool, images, words, numerics)
    unit = ModelShard(entrant, Part(names, names), 0)

    @torch.no_grad()
    def bare() -> None:
        for group in by_size(samples, together):
            labels_of(network(torch.stack([sample.image for sample in group])))

    def ours() -> None:
        shutil.rmtree(place / "run", ignore_errors=True)  # else the maps are there already
        work(unit)

    times: dict[str, list[tuple[float, ...]]] = {"bare": [], "predict": []}
    for _ in range(pairs + 1):
        times["bare"].append(timed(bare))
        times["predict"].append(timed(ours))
    cpu, hot, wall = (
        {way: statistics.median(taken[clock] for taken in both[1:]) for way, both in times.items()}
        for clock in range(3)
    )
    print(f"{model}, {images} images of {size} px, {together} at a time, medians of {pairs} alternating pairs")
    print(f"bare model {images / wall['bare']:7.2f} images/s, {1000 * cpu['bare'] / images:7.1f} ms CPU an image")
    print(f"predict    {images / wall['predict']:7.2f} images/s, {1000 * cpu['predict'] / images:7.1f} ms CPU an image")
    print(f"CPU time, all threads, predict over bare: {cpu['predict'] / cpu['bare']:.3f} (at most {LIMIT})")
    print(f"CPU time of the model's thread alone:     {hot['predict'] / hot['bare']:.3f}")
    print(f"wall time, which is throughput:           {wall['predict'] / wall['bare']:.3f} (where a core is free)")


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="compact:cnn")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--pairs", type=int, default=9)
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        measure(Path(place), given.model, given.size, given.images, given.pairs)


if __name__ == "__main__":
    main()
