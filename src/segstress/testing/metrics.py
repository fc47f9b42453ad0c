"""What every metric must keep; `check_metric` is public, for authors of plug-ins."""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Int64

from ..metrics.metric import Metric, metrics

IMAGES, CLASSES = 6, 4
Counts = Int64[np.ndarray, "images classes 3"]


def check_metric(metric: Metric | str) -> None:
    """Run every check, one after the other; the first that fails raises AssertionError and says why."""
    function = metrics.get(metric) if isinstance(metric, str) else metric
    for check in METRIC_CHECKS:
        check(function)


def counts_of(seed: int = 0) -> Counts:
    """Return hits, predicted and actual pixels of each class of images; some classes are absent from some."""
    random = np.random.default_rng(seed)
    hits, missed, wrong = random.integers(0, 50, (3, IMAGES, CLASSES))
    counts = np.stack([hits, hits + wrong, hits + missed], -1)
    counts[0, 1] = 0
    return counts.astype(np.int64)


def check_is_a_figure(metric: Metric) -> None:
    """Check that it is one number in [0, 1], of NumPy's counts as of torch's."""
    for seed in range(5):
        counts = counts_of(seed)
        value = metric(counts)
        assert isinstance(value, float), f"a {type(value).__name__} instead of a number"
        assert 0 <= value <= 1, f"{value} is outside [0, 1]"
        other = metric(torch.from_numpy(counts))
        assert math.isclose(value, float(other), rel_tol=1e-9), f"{value} by NumPy, {other} by torch"


def check_is_pure(metric: Metric) -> None:
    """Check that equal counts give equal figures, and stay what they are."""
    counts = counts_of()
    before = counts.copy()
    assert metric(counts) == metric(counts), "two calls differ"
    assert (counts == before).all(), "it changed the counts"


def check_has_no_order(metric: Metric) -> None:
    """Check that images may come in any order."""
    counts = counts_of()
    one, two = metric(counts), metric(counts[::-1].copy())
    assert math.isclose(one, two, rel_tol=1e-12), f"{one}, and in another order {two}"


def check_knows_right_and_wrong(metric: Metric) -> None:
    """Check that all right is 1, all wrong is 0, and one pixel more that is right is no worse.

    A figure of the foreground alone may count background as a class that is never right: then 1 is out of reach."""
    counts = counts_of() + 1
    right = np.repeat(counts[..., 2:], 3, axis=-1)
    wrong = counts.copy()
    wrong[..., 0] = 0
    highest = metric(right)
    if metric.declaration.zones == ("foreground",):
        assert metric(counts) < highest <= 1, f"{highest} where all is right"
    else:
        assert math.isclose(highest, 1), f"{highest} where all is right"
    assert metric(wrong) == 0, f"{metric(wrong)} where all is wrong"
    better = wrong.copy()
    better[:, 2, 0] = np.minimum(wrong[:, 2, 1], wrong[:, 2, 2])
    assert metric(better) > metric(wrong), "more hits of a class do not raise it"


def check_is_drawn_again(metric: Metric) -> None:
    """Check that weights give one figure a draw; every image once is the figure itself, twice the same."""
    counts = counts_of()
    weights = np.ones((3, IMAGES))
    weights[1] *= 2
    weights[2, :3] = 0
    drawn = np.asarray(metric(counts, weights=weights))
    assert drawn.shape == (3,), f"a shape of {drawn.shape} for three draws"
    expected = [metric(counts), metric(counts), metric(counts[3:])]
    assert np.allclose(drawn, expected), f"{drawn.tolist()} by weights, {expected} by counting"


METRIC_CHECKS = (
    check_is_a_figure,
    check_is_pure,
    check_has_no_order,
    check_knows_right_and_wrong,
    check_is_drawn_again,
)
