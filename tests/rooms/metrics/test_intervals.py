"""Bootstrap intervals: right width, right pairing, same seed same answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from segstress.core import BadInput
from segstress.metrics.intervals import difference, interval
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
        found = interval(counts, metric, draws=4000)
        assert found.value == pytest.approx(values.mean())
        assert found.high - found.low == pytest.approx(width, rel=0.1)
        assert found.low < found.value < found.high


def test_a_higher_level_is_wider_and_equal_images_leave_no_doubt(counts: np.ndarray) -> None:
    """Nothing varies, so nothing is uncertain."""
    narrow, wide = (interval(counts, cmiou, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    same = interval(np.repeat(counts[:1], 30, 0), nmiou)
    assert same.low == pytest.approx(same.value) == pytest.approx(same.high)


def test_the_seed_decides(counts: np.ndarray) -> None:
    """Equal seeds draw alike, others do not."""
    assert interval(counts, cmiou, seed=3) == interval(counts, cmiou, seed=3)
    assert interval(counts, cmiou, seed=3) != interval(counts, cmiou, seed=4)


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
    """Draws of void images only are dropped; if all are, there is no interval."""
    few = np.concatenate([counts[:1], np.zeros_like(counts[:3])])
    found = interval(few, nmiou)
    assert found.low == pytest.approx(found.value) == pytest.approx(found.high)
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
