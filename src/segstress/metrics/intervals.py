"""How sure a figure is: a studentized interval over images, also for the difference of two models on the same images.

A percentile bootstrap is too narrow for few images (docs/benchmarks.md). Here the standard error is the jackknife's,
the quantile is Student's, and the side of the longer tail is stretched by Johnson's correction for skewness (1978,
JASA 73:536)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int, Int64
from scipy.special import stdtrit

from ..core import BadInput
from .metric import Metric

LEVEL = 0.95  # share of repetitions with other images in which the bounds should hold the true figure
GROUPS = 1000  # most that the jackknife leaves out in turn; more images are left out in groups
ROUNDING = 1e-9  # what sums of the same numbers in another order may differ by
HELD = 2**22  # weights that are held at a time; more draws are weighed one part after the other
SHARE, GAIN = (0.0, 1.0), (-1.0, 1.0)  # where shares and their differences lie

Statistic = Callable[[Float64[np.ndarray, "draws images"]], Float64[np.ndarray, " draws"]]


@dataclass(frozen=True)
class Interval:
    """A figure and the bounds that hold the true one at the stated level."""

    value: float
    low: float
    high: float
    level: float = LEVEL


@dataclass(frozen=True)
class Difference(Interval):
    """First minus second, with the share of bootstrap draws that do not confirm its sign."""

    doubt: float = math.nan  # one-sided; near 0 = the order of the two is sure, 0.5 = a coin toss


def interval(counts: Int[np.ndarray, "images classes 3"], metric: Metric, *, level: float = LEVEL) -> Interval:
    """Return a metric with its interval."""
    return interval_of(lambda weights: metric(counts, weights=weights), len(counts), level=level, within=SHARE)


def interval_of(
    statistic: Statistic,
    images: int,
    *,
    level: float = LEVEL,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Return the interval of anything that can weigh its images, where counts and a metric are not enough.

    A figure that rests on one image alone may lie anywhere `within` the range. Images that have no figure by
    themselves, and without which it is the same, are left out."""
    if not images:
        raise BadInput("interval: expected at least one image, found none")
    with np.errstate(invalid="ignore", divide="ignore"):  # images without a truth, alone
        value = float(statistic(np.ones((1, images)))[0])
        low, high = _bounds(value, _jackknife(statistic, value, images), level, within)
    return Interval(value, low, high, level)


def difference(
    first: Int[np.ndarray, "images classes 3"],
    second: Int[np.ndarray, "same_images classes 3"],
    metric: Metric,
    *,
    draws: int = 1000,
    level: float = LEVEL,
    seed: int = 0,
) -> Difference:
    """Bootstrap the difference of a metric in pairs: both sides draw the same images."""
    if len(first) != len(second):
        raise BadInput(f"paired difference: expected the same images on both sides, found {len(first)}, {len(second)}")

    def apart(weights: Float64[np.ndarray, "draws images"]) -> Float64[np.ndarray, " draws"]:
        gain: np.ndarray = metric(first, weights=weights) - metric(second, weights=weights)
        return gain

    interval = interval_of(apart, len(first), level=level, within=GAIN)
    drawn = np.concatenate([apart(weights) for weights in _weights(len(first), draws, seed)])
    known = drawn[~np.isnan(drawn)]
    doubt = float((known * np.sign(interval.value) <= 0).mean()) if len(known) else math.nan
    return Difference(interval.value, interval.low, interval.high, level, doubt)


def half_width(values: Float64[np.ndarray, " images"], images: int, level: float = LEVEL) -> float:
    """Return what the spread of some images' values promises for the mean over so many images; NaN below two."""
    known = values[~np.isnan(values)]
    if len(known) < 2 or images < 2:
        return math.nan
    return float(_quantile(images, level) * known.std(ddof=1) / math.sqrt(images))


def _weights(images: int, draws: int, seed: int) -> Iterator[Float64[np.ndarray, "part images"]]:
    """Tell how often each image is drawn: resampling as a matrix, so that a metric sees many draws at once."""
    generator = np.random.default_rng(seed)
    for part in _parts(draws, images):
        bins = generator.integers(images, size=(len(part), images)) + images * np.arange(len(part))[:, None]
        times = np.bincount(bins.ravel(), minlength=len(part) * images)
        yield times.reshape(len(part), images).astype(np.float64)


def _jackknife(statistic: Statistic, value: float, images: int) -> Float64[np.ndarray, " known"]:
    """Return the figure without each image, or group of them, in turn, as far as they add to it.

    A figure of two sets of pixels, such as a gap between sizes, has no value on an image that lacks one of them; yet
    such an image adds to the other, and the figure without it is another."""
    groups = min(images, GROUPS)
    group = np.arange(images) % groups
    without = []
    for part in _parts(groups, images):
        alone = np.equal(group, part[:, None]).astype(np.float64)
        left = statistic(1 - alone)
        known = ~(np.isnan(statistic(alone)) & np.isclose(left, value, rtol=ROUNDING, atol=ROUNDING))
        without.append(left[known])
    return np.concatenate(without)


def _parts(draws: int, images: int) -> Iterable[Int64[np.ndarray, " part"]]:
    """Cut the numbers of draws into parts whose weights are few enough to be held."""
    return np.array_split(np.arange(draws), -(-draws * images // HELD))


def _bounds(
    value: float, without: Float64[np.ndarray, " known"], level: float, within: tuple[float, float]
) -> tuple[float, float]:
    if math.isnan(value):
        return math.nan, math.nan
    parts = len(without)
    if parts < 2 or np.isnan(without).any():
        return within
    pull = without.mean() - without  # how far each image draws the figure up
    squares = float((pull**2).sum())
    if not squares:
        return value, value
    error, quantile = math.sqrt((parts - 1) / parts * squares), _quantile(parts, level)
    stretch = _skewness(pull) * (1 + 2 * quantile**2) / (6 * math.sqrt(parts))
    low, high = value - error * (quantile - min(stretch, 0)), value + error * (quantile + max(stretch, 0))
    return max(low, within[0]), min(high, within[1])


def _skewness(values: Float64[np.ndarray, " known"]) -> float:
    """Return the third moment over the cube of the deviation, corrected for few values; they sum to zero."""
    number = len(values)
    plain = math.sqrt(number) * float((values**3).sum()) / float((values**2).sum()) ** 1.5
    return plain * math.sqrt(number * (number - 1)) / (number - 2) if number > 2 else 0.0


def _quantile(images: int, level: float) -> float:
    """Return Student's quantile, by which the standard error over so many images is multiplied."""
    return float(stdtrit(images - 1, (1 + level) / 2))
