"""How sure a figure is: percentile bootstrap over images, also for the difference of two models on the same images."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from ..core import BadInput
from .metric import Metric


@dataclass(frozen=True)
class Interval:
    """A figure and the bounds that hold the stated share of its bootstrap draws."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference(Interval):
    """First minus second, with the share of draws that do not confirm its sign."""

    doubt: float  # one-sided; near 0 = the order of the two is sure, 0.5 = a coin toss


def interval(
    counts: Int64[np.ndarray, "images classes 3"],
    metric: Metric,
    *,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Bootstrap interval of a metric."""
    weights = _weights(len(counts), draws, seed)
    return Interval(metric(counts), *_bounds(metric(counts, weights=weights), level))


def bootstrap(
    statistic: Callable[[Float64[np.ndarray, "draws images"]], Float64[np.ndarray, " draws"]],
    images: int,
    *,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Bootstrap interval of anything that can weigh its images, where counts and a metric are not enough."""
    value = float(statistic(np.ones((1, images)))[0])
    return Interval(value, *_bounds(statistic(_weights(images, draws, seed)), level))


def difference(
    first: Int64[np.ndarray, "images classes 3"],
    second: Int64[np.ndarray, "same_images classes 3"],
    metric: Metric,
    *,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Paired bootstrap of the difference of a metric: both sides draw the same images."""
    if len(first) != len(second):
        raise BadInput(f"paired difference: expected the same images on both sides, found {len(first)}, {len(second)}")
    weights = _weights(len(first), draws, seed)
    drawn = metric(first, weights=weights) - metric(second, weights=weights)
    value = metric(first) - metric(second)
    known = drawn[~np.isnan(drawn)]
    doubt = float((known * np.sign(value) <= 0).mean()) if len(known) else math.nan
    return Difference(value, *_bounds(drawn, level), doubt)


def _weights(images: int, draws: int, seed: int) -> Float64[np.ndarray, "draws images"]:
    """How often each image is drawn: resampling as one matrix, so that a metric sees all draws at once."""
    if not images:
        raise BadInput("interval: expected at least one image, found none")
    picks = np.random.default_rng(seed).integers(images, size=(draws, images))
    bins = picks + images * np.arange(draws)[:, None]
    return np.bincount(bins.ravel(), minlength=draws * images).reshape(draws, images).astype(np.float64)


def _bounds(drawn: Float64[np.ndarray, " draws"], level: float) -> tuple[float, float]:
    known = drawn[~np.isnan(drawn)]  # a draw may hold only images without a truth
    if not len(known):
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
