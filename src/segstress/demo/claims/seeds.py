"""An order of trainings: sure on the mean of their seeds, and the same on each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...metrics.intervals import GAIN, Interval, Statistic, interval_of
from ...reports.findings.page import span
from ...reports.kit.naming import percent
from ...reports.study.assessment import metric_of


@dataclass(frozen=True)
class Lead:
    """By how much one training is ahead of another, over the same images."""

    mean: Interval  # of the seeds, over images
    by_seed: tuple[float, ...]

    @property
    def sure(self) -> bool:
        """Whether it is ahead: the interval of the mean and every seed must say so."""
        return self.mean.low > 0 and min(self.by_seed) > 0

    @property
    def words(self) -> str:
        """In points, with the seeds one by one."""
        return f"{span(self.mean)} points, by seed {', '.join(map(percent, self.by_seed))}"


def lead(statistics: Sequence[Statistic], images: int) -> Lead:
    """Return the lead that one statistic for each seed tells, images being drawn for all seeds alike."""

    def mean(weights: np.ndarray) -> np.ndarray:
        values: np.ndarray = np.mean([statistic(weights) for statistic in statistics], axis=0)
        return values

    with np.errstate(invalid="ignore", divide="ignore"):  # of what is not there, nothing can be kept
        by_seed = tuple(float(statistic(np.ones((1, images)))[0]) for statistic in statistics)
    return Lead(interval_of(mean, images, within=GAIN), by_seed)


def apart(first: np.ndarray, second: np.ndarray, figure: str) -> Statistic:
    """Return the difference of a figure between two sets of counts of the same images."""
    metric = metric_of(figure)

    def gain(weights: np.ndarray) -> np.ndarray:
        values: np.ndarray = metric(first, weights=weights) - metric(second, weights=weights)
        return values

    return gain
