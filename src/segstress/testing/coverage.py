"""How often an interval holds the true figure: samples of images drawn from a population whose figure is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Int64

from ..metrics.intervals import Interval, difference, interval
from ..metrics.metric import Metric

Counts = Int64[np.ndarray, "images classes 3"]
Measure = Callable[..., Interval]  # one or two sides' counts, and a metric


def coverage(
    populations: Sequence[Counts],
    metric: Metric,
    images: int,
    *,
    simulations: int = 2000,
    measure: Measure | None = None,
    seed: int = 0,
) -> float:
    """Return the share of samples of so many images whose interval holds the population's figure.

    Two populations of the same images are compared in pairs."""
    bounds_of: Measure = measure or (interval if len(populations) == 1 else _difference)
    random, truth = np.random.default_rng(seed), _figure(populations, metric)
    held = 0
    for _ in range(simulations):
        picks = random.integers(len(populations[0]), size=images)
        bounds = bounds_of(*(counts[picks] for counts in populations), metric)
        held += bounds.low <= truth <= bounds.high
    return held / simulations


def generated_counts(images: int, *, right: float = 0.7, classes: int = 5, seed: int = 0) -> Counts:
    """Return counts as a segmentation gives them: few classes an image, unequal areas, whole images good or bad."""
    random = np.random.default_rng(seed)
    counts = np.zeros((images, classes, 3), dtype=np.int64)
    for image in counts:
        present = random.permutation(classes)[: random.integers(2, classes + 1)]
        actual = np.zeros(classes, dtype=np.int64)
        actual[present] = random.multinomial(96 * 96, random.dirichlet(np.ones(len(present))))
        quality = random.beta(8 * right, 8 * (1 - right))
        hits = random.binomial(actual, random.beta(10 * quality + 0.1, 10 * (1 - quality) + 0.1, classes))
        wrong = random.multinomial((actual - hits).sum(), np.full(classes, 1 / classes))
        image[:] = np.stack([hits, hits + wrong, actual], -1)
    return counts


def _difference(first: Counts, second: Counts, metric: Metric) -> Interval:
    return difference(first, second, metric, draws=1)


def _figure(populations: Sequence[Counts], metric: Metric) -> float:
    first, *others = (metric(counts) for counts in populations)
    return float(first - sum(others))
