"""Intervals: right width, right pairing, bounds where a figure can lie."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest

from segstress.core import BadInput
from segstress.metrics import Metric, intervals
from segstress.metrics.intervals import difference, half_width, interval, interval_of
from segstress.metrics.scores import accuracy, accuracy_image_mean, cmiou, nmiou

PIXELS = 100


def images_of(hits: np.ndarray) -> np.ndarray:
    """Counts of two-class images with the given number of correct pixels, errors crossing over from class 0."""
    zero = np.full_like(hits, PIXELS // 2)
    return np.stack(
        [np.stack([hits - zero, hits - zero, zero], -1), np.stack([zero, PIXELS - hits + zero, zero], -1)], 1
    )


@pytest.fixture
def counts() -> np.ndarray:
    """Four hundred images between half and all right."""
    return images_of(np.random.default_rng(1).integers(PIXELS // 2, PIXELS + 1, 400))


def test_the_width_is_that_of_the_normal_approximation(counts: np.ndarray) -> None:
    """For a mean of many images: 2 * 1.96 * deviation / root of their number, to within a tenth."""
    values = counts[:, :, 0].sum(-1) / PIXELS
    width = 2 * 1.96 * values.std() / math.sqrt(len(values))
    for metric in (accuracy, accuracy_image_mean):
        found = interval(counts, metric)
        assert found.value == pytest.approx(values.mean())
        assert found.high - found.low == pytest.approx(width, rel=0.1)
        assert found.low < found.value < found.high


def test_a_higher_level_is_wider_and_equal_images_leave_no_doubt(counts: np.ndarray) -> None:
    """Nothing varies, so nothing is uncertain."""
    narrow, wide = (interval(counts, cmiou, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    same = interval(np.repeat(counts[:1], 30, 0), nmiou)
    assert same.low == pytest.approx(same.value) == pytest.approx(same.high)


def test_of_a_mean_it_is_students() -> None:
    """Without skewness: the deviation over the root of the number, times the quantile of a table."""
    values = np.array([0.2, 0.4, 0.5, 0.6, 0.8])
    found = interval_of(lambda weights: weights @ values / weights.sum(1), 5)
    assert found.high - found.value == pytest.approx(2.776445 * values.std(ddof=1) / math.sqrt(5))
    assert found.value - found.low == pytest.approx(found.high - found.value)
    assert found.level == 0.95
    assert half_width(values, 5) == pytest.approx(found.high - found.value)
    assert half_width(values, 20) == pytest.approx(2.093024 * values.std(ddof=1) / math.sqrt(20))
    assert math.isnan(half_width(values[:1], 20))


def test_the_longer_tail_gets_the_longer_side() -> None:
    """One bad image among good ones: the truth may lie much lower, hardly higher; never outside what is possible."""
    found = interval(images_of(np.array([100] * 11 + [50])), accuracy)
    assert found.value - found.low > 1.2 * (found.high - found.value)
    assert found.low >= 0
    assert found.high == 1


@pytest.mark.parametrize("side", [-1, 1])
def test_the_longer_side_is_stretched_and_the_other_is_not(side: int) -> None:
    values = side * np.array([0.0] * 11 + [1.0])
    found = interval_of(lambda weights: weights @ values / weights.sum(1), len(values))
    sides = {-1: found.value - found.low, 1: found.high - found.value}
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert sides[-side] == pytest.approx(2.201 * error, rel=1e-3), "Student's quantile of 11 degrees of freedom"
    assert sides[side] > 1.2 * sides[-side]


def test_groups_are_left_out_where_images_are_many(counts: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the leavings-out gives about the same width."""
    whole = interval(counts, cmiou)
    monkeypatch.setattr("segstress.metrics.intervals.GROUPS", 40)
    grouped = interval(counts, cmiou)
    assert grouped.value == whole.value
    assert grouped.high - grouped.low == pytest.approx(whole.high - whole.low, rel=0.3)


@pytest.mark.parametrize("metric", [accuracy, nmiou])
def test_weights_in_parts_give_what_all_at_once_give(
    counts: np.ndarray, metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draws are the same too, so is the doubt; an odd number of images leaves half a word of the generator over."""
    first, second = counts[:201], counts[201:][:201].copy()
    second = np.concatenate([second, second[:2]])[:201]
    second[0] = 0  # has no figure by itself, and its part of the groups has one group less
    whole = interval(second, metric), difference(first, second, metric)
    seen: list[int] = []
    monkeypatch.setattr(intervals, "HELD", 7 * 201)

    def watched(weights: np.ndarray) -> np.ndarray:
        seen.append(weights.size)
        return metric(second, weights=weights)

    interval_of(watched, 201)
    assert max(seen) <= 7 * 201
    parts = interval(second, metric), difference(first, second, metric)
    for ours, theirs in zip(parts, whole, strict=True):
        assert astuple(ours) == pytest.approx(astuple(theirs), rel=1e-12)


def test_pairing_sees_a_small_difference_that_images_would_drown(counts: np.ndarray) -> None:
    """One pixel less on every image: far below the spread between images, yet sure."""
    worse = images_of(np.maximum(counts[:, :, 0].sum(-1) - 1, PIXELS // 2))
    found = difference(counts, worse, accuracy)
    alone = interval(counts, accuracy)
    assert 0 < found.low <= found.value <= found.high
    assert found.high - found.low < (alone.high - alone.low) / 10
    assert found.doubt == 0
    assert difference(worse, counts, accuracy).value == pytest.approx(-found.value)


def test_doubt_about_models_of_equal_strength() -> None:
    """The same scores dealt to other images: the sign is a coin toss; equal counts confirm nothing."""
    random = np.random.default_rng(5)
    hits = random.integers(PIXELS // 2, PIXELS + 1, 400)
    tossed = difference(images_of(hits), images_of(random.permutation(hits) + (np.arange(400) == 0)), accuracy)
    assert tossed.low < 0 < tossed.high
    assert 0.3 < tossed.doubt < 0.7
    assert difference(images_of(hits), images_of(hits), accuracy).doubt == 1


def test_images_without_truth_do_not_poison_the_draws(counts: np.ndarray) -> None:
    """They count for nothing; where one image is left the figure may be anything, and where none is it is none."""
    padded = np.concatenate([counts[:9], np.zeros_like(counts[:30])])
    for metric in (accuracy, nmiou):
        found, plain = interval(padded, metric), interval(counts[:9], metric)
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    few = np.concatenate([counts[:1], np.zeros_like(counts[:3])])
    for lonely in (few, counts[:1]):
        found = interval(lonely, nmiou)
        assert (found.low, found.high) == (0, 1)
        assert 0 < found.value < 1
    assert (difference(few, few, nmiou).low, difference(few, few, nmiou).high) == (-1, 1)
    void = interval(np.zeros_like(counts[:3]), nmiou)
    assert math.isnan(void.value)
    assert math.isnan(void.low)
    assert math.isnan(difference(few[1:], few[1:], nmiou).doubt)


def test_what_cannot_be_drawn_is_refused(counts: np.ndarray) -> None:
    """No images, or other images on the other side."""
    with pytest.raises(BadInput, match="at least one image"):
        interval(counts[:0], accuracy)
    with pytest.raises(BadInput, match="same images on both sides, found 400, 399"):
        difference(counts, counts[1:], accuracy)


def gap_of(pixels: np.ndarray, kept: np.ndarray) -> intervals.Statistic:
    """The difference between two sets of pixels in the share that is kept."""

    def gap(weights: np.ndarray) -> np.ndarray:
        shares = (weights @ kept) / (weights @ pixels)
        return shares[:, 1] - shares[:, 0]

    return gap


def test_an_image_that_lacks_one_of_two_sets_of_pixels_counts_for_the_other() -> None:
    """A third of the images has no pixel of the first set, and so no gap by itself."""
    generator = np.random.default_rng(3)
    pixels = generator.integers(5, 50, (12, 2))
    pixels[::3, 0] = 0
    kept = generator.binomial(pixels, (0.3, 0.7))
    gap = gap_of(pixels, kept)
    assert interval_of(gap, 12) == interval_of(lambda weights: np.nan_to_num(gap(weights)), 12), "all twelve count"


def test_an_image_that_has_neither_set_still_counts_for_nothing() -> None:
    pixels = np.array([[10, 20], [0, 0], [30, 10], [12, 12]])
    kept = np.array([[5, 18], [0, 0], [10, 9], [7, 8]])
    known = [0, 2, 3]
    found, plain = interval_of(gap_of(pixels, kept), 4), interval_of(gap_of(pixels[known], kept[known]), 3)
    assert astuple(found)[:3] == pytest.approx(astuple(plain)[:3])
