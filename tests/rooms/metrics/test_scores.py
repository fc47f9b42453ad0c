"""Scores of the toy set, each derived by hand.

Per image and class, IoU = hits / union (see test_counts for the counts):

    image A: class 0: 3/5, class 1: 2/4
    image B: class 0: 5/6, class 2: 2/2, class 3: 0/1 (one stray pixel)
    image C: class 0: 0/1, class 1: 1/2
    image D: all void, no value under any rule

    image mIoU   present            truth             fixed (5 classes)
    A            (3/5+1/2)/2=11/20  11/20             11/50
    B            (5/6+1+0)/3=11/18  (5/6+1)/2=11/12   11/30
    C            (0+1/2)/2=1/4      (1/2)/1=1/2       1/10

Pooled over images: class 0: 8/12, class 1: 3/6, class 2: 2/2, class 3: 0/1, class 4 has no union; sum 13/6.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from toy_set import Toy

from segstress.core import BadInput
from segstress.metrics import metrics
from segstress.metrics.micro import micro_iou, micro_iou_image_mean
from segstress.metrics.scores import (
    accuracy,
    accuracy_image_mean,
    class_table,
    classes_taken,
    cmiou,
    foreground,
    fwiou,
    image_accuracy,
    image_miou,
    left_out,
    mean_accuracy,
    nmiou,
    rce,
)

IMAGE_MIOU = {
    "present": ["11/20", "11/18", "1/4"],
    "truth": ["11/20", "11/12", "1/2"],
    "fixed": ["11/50", "11/30", "1/10"],
    "zero-background": ["11/30", "11/24", "1/6"],  # as present, divided by one class more
}


def fraction(text: str) -> float:
    return float(Fraction(text))


@pytest.mark.parametrize("absent", IMAGE_MIOU)
def test_image_miou_by_every_rule(toy: Toy, absent: str) -> None:
    """The stray pixel of image B costs a third under `present` and nothing under `truth`."""
    values = image_miou(toy.count(), absent)
    assert values[:3].tolist() == pytest.approx([fraction(text) for text in IMAGE_MIOU[absent]])
    assert math.isnan(values[3])


@pytest.mark.parametrize(
    ("absent", "pooled", "image_mean"),
    [
        ("present", "13/24", "127/270"),  # 13/6 over 4 classes;  (11/20 + 11/18 + 1/4) / 3
        ("truth", "13/18", "59/90"),  # 13/6 over 3 classes;  (11/20 + 11/12 + 1/2) / 3
        ("fixed", "13/30", "103/450"),  # 13/6 over 5 classes;  (11/50 + 11/30 + 1/10) / 3
    ],
)
def test_the_six_miou_of_the_field(toy: Toy, absent: str, pooled: str, image_mean: str) -> None:
    """CmIoU and NmIoU under three rules are six different numbers."""
    assert cmiou(toy.count(), absent=absent) == pytest.approx(fraction(pooled))
    assert nmiou(toy.count(), absent=absent) == pytest.approx(fraction(image_mean))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (accuracy, "13/17"),  # hits 5 + 7 + 1 of 7 + 8 + 2 pixels
        (accuracy_image_mean, "39/56"),  # (5/7 + 7/8 + 1/2) / 3
        (mean_accuracy, "4/5"),  # (8/10 + 3/5 + 2/2) / 3
        (fwiou, "67/102"),  # (10 * 2/3 + 5 * 1/2 + 2 * 1) / 17
        (micro_iou, "13/21"),  # hits 13 over unions 12 + 6 + 2 + 1
        (micro_iou_image_mean, "5/9"),  # (5/9 + 7/9 + 1/3) / 3
    ],
)
def test_the_other_figures(toy: Toy, metric, expected: str) -> None:
    """Each by hand from the pooled or the single counts."""
    assert metric(toy.count()) == pytest.approx(fraction(expected))


def test_foreground_drops_background_pixels_and_their_class(toy: Toy) -> None:
    """Zone: A 3 pixels of class 1 (2 right), B 2 of class 2 (2 right), C 2 of class 1 (1 right)."""
    counts = foreground(toy.count(background=0), 0)
    assert counts.shape == (4, 4, 3)
    assert accuracy(counts) == pytest.approx(5 / 7)
    assert accuracy_image_mean(counts) == pytest.approx(fraction("13/18"))  # (2/3 + 1 + 1/2) / 3
    assert cmiou(counts) == pytest.approx(4 / 5)  # class 1: 3/5, class 2: 2/2
    assert cmiou(counts, absent="fixed") == pytest.approx(2 / 5)  # the same over 4 classes
    assert nmiou(counts) == pytest.approx(fraction("13/18"))


def test_class_table_says_nan_where_nothing_can_be_said(toy: Toy) -> None:
    """Class 3 was predicted but never true, class 4 neither."""
    table = class_table(toy.count().numpy())
    nan = math.nan
    np.testing.assert_allclose(table.iou, [2 / 3, 1 / 2, 1, 0, nan])
    np.testing.assert_allclose(table.accuracy, [8 / 10, 3 / 5, 1, nan, nan])
    np.testing.assert_allclose(table.precision, [8 / 10, 3 / 4, 1, 0, nan])
    assert table.predicted.tolist() == [10, 4, 2, 1, 0]
    assert table.actual.tolist() == [10, 5, 2, 0, 0]


def test_images_without_truth_are_left_out_and_counted(toy: Toy) -> None:
    """The all-void image is no zero; neither is an unlabelled one, where something was predicted."""
    counts = toy.count()
    assert left_out(counts) == 1
    assert nmiou(counts, absent="fixed") == nmiou(counts[:3], absent="fixed")
    unlabelled = counts[:1].clone()
    unlabelled[..., 0] = unlabelled[..., 2] = 0
    for name in metrics.names():
        assert math.isnan(metrics.get(name)(unlabelled)), name


def test_torch_and_numpy_agree_in_double_precision(toy: Toy) -> None:
    """Counts beyond 2^24 would lose digits in single precision."""
    counts = toy.count() * 123_456_789
    for score in (image_accuracy, image_miou):
        values = score(counts)
        assert values.dtype == torch.float64
        np.testing.assert_array_equal(values.numpy(), score(counts.numpy()))
    for name in metrics.names():
        assert metrics.get(name)(counts) == metrics.get(name)(counts.numpy())


def test_an_unknown_rule_is_refused() -> None:
    """In one line that names the rules."""
    with pytest.raises(BadInput, match="expected one of present, truth, fixed, zero-background, found 'union'"):
        classes_taken(np.ones(3), np.ones(3), "union")


def test_relative_change_against_clean() -> None:
    """Half lost, some gained, and nothing to compare with."""
    assert rce(0.8, 0.4) == pytest.approx(0.5)
    assert rce(0.8, 0.9) == pytest.approx(-0.125)
    assert math.isnan(rce(0.0, 0.0))
    assert math.isnan(rce(math.nan, 0.5))
