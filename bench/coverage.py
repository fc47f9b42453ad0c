"""How often 95 % intervals hold the true figure: samples of n images from populations whose figure is known.

Command: python bench/coverage.py [--simulations 2000] [--images 8,16,32,64] [--population 400] [--models ...]
[--split val] [--seed 0]. Real populations are per-image counts on shapes; old is a percentile bootstrap over images,
new the interval of reports.
Shares of the simulations in percent; a difference is that of the two models, in pairs.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import torch

from segstress.data import load as load_data
from segstress.data import stack
from segstress.metrics.counts import count, predict
from segstress.metrics.intervals import Interval
from segstress.metrics.scores import accuracy, cmiou, nmiou
from segstress.models import load
from segstress.testing.coverage import coverage, generated_counts

METRICS = {"accuracy": accuracy, "NmIoU": nmiou, "CmIoU": cmiou}
DRAWS = 1000


def percentile(*sides_and_metric) -> Interval:
    """The interval of before: quantiles of draws of images."""
    *sides, metric = sides_and_metric
    images = len(sides[0])
    picks = np.random.default_rng(0).multinomial(images, np.full(images, 1 / images), size=DRAWS).astype(float)
    first, *others = (metric(counts, weights=picks) for counts in sides)
    drawn = first - sum(others)
    return Interval(float("nan"), *np.nanquantile(drawn, [0.025, 0.975]).tolist())


def real_counts(model: str, split: str, images: int) -> np.ndarray:
    """Per-image counts of an embedded model on clean images of shapes."""
    network, source = load(model), load_data(f"shapes:{split}?count={images}")
    counts = []
    with torch.no_grad():
        for id_ in source.ids():
            batch = stack([source.read(id_)])
            counts.append(count(predict(network(batch.images)), batch.labels, batch.valid, len(source.classes)))
    return torch.cat(counts).numpy()


def populations(given: argparse.Namespace) -> dict[str, list[np.ndarray]]:
    """By name: one side, or two to be compared."""
    first, second = (real_counts(model, given.split, given.population) for model in given.models.split(","))
    good, bad = (
        generated_counts(2000, right=right, seed=2 * given.seed + number) for number, right in enumerate((0.9, 0.2))
    )
    names = [name.partition(":")[2] for name in given.models.split(",")]
    return {
        f"{names[0]}, shapes:{given.split}": [first],
        f"{names[1]}, shapes:{given.split}": [second],
        "their difference": [first, second],
        "generated, 90 % right": [good],
        "generated, 20 % right": [bad],
        "their difference, generated": [good, bad],
    }


def main() -> None:
    """Print one line for each population and number of images."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--images", default="8,16,32,64")
    parser.add_argument("--population", type=int, default=400)
    parser.add_argument("--models", default="compact:cnn-normal,compact:cnn-pgd-at-100")
    parser.add_argument("--split", default="val")
    parser.add_argument("--seed", type=int, default=0, help="of the samples and of the generated populations")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| population | images |", " | ".join(f"{name} old, new" for name in METRICS), "|")
    print("|---|---:|" + "---:|" * len(METRICS))
    for name, sides in populations(given).items():
        for images in map(int, given.images.split(",")):
            drawn = partial(coverage, sides, images=images, simulations=given.simulations, seed=given.seed)
            cells = [
                ", ".join(f"{100 * drawn(metric, measure=measure):.1f}" for measure in (percentile, None))
                for metric in METRICS.values()
            ]
            print(f"| {name} | {images} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
