"""What other libraries call IoU, on the toy set: which of our figures each one is."""

from __future__ import annotations

import pytest
import torch
from toy_set import VOID, Toy

from segstress.metrics.micro import micro_iou, micro_iou_image_mean
from segstress.metrics.scores import class_table, cmiou, fwiou, nmiou
from segstress.models.frameworks import declare_operators

declare_operators()  # for what these tests import themselves


def jaccard(toy: Toy, average: str) -> torch.Tensor:
    torchmetrics = pytest.importorskip("torchmetrics")
    index = torchmetrics.JaccardIndex("multiclass", num_classes=toy.classes, ignore_index=VOID, average=average)
    return index(toy.prediction, toy.truth)


def test_torchmetrics_macro_is_cmiou_over_present_classes(toy: Toy) -> None:
    """And there is no image-wise mean in it, whatever the average is called."""
    assert cmiou(toy.count()) == pytest.approx(float(jaccard(toy, "macro"))) == pytest.approx(13 / 24)


def test_torchmetrics_micro_is_micro_iou(toy: Toy) -> None:
    """A function of accuracy alone: 13/17 gives 13/21."""
    assert micro_iou(toy.count()) == pytest.approx(float(jaccard(toy, "micro"))) == pytest.approx(13 / 21)


def test_torchmetrics_weighted_is_fwiou(toy: Toy) -> None:
    """Weights are the true pixels."""
    assert fwiou(toy.count()) == pytest.approx(float(jaccard(toy, "weighted"))) == pytest.approx(67 / 102)


def test_torchmetrics_per_class_is_the_class_table(toy: Toy) -> None:
    """Classes with a union; for the others we say NaN and it says 0."""
    assert class_table(toy.count()).iou[:4].tolist() == pytest.approx(jaccard(toy, "none")[:4].tolist())


@pytest.mark.parametrize(
    ("reduction", "metric", "rule", "expected"),
    [
        ("micro", micro_iou, {}, 13 / 21),
        ("macro", cmiou, {"absent": "fixed"}, 13 / 30),
        ("micro-imagewise", micro_iou_image_mean, {}, 5 / 9),
        ("macro-imagewise", nmiou, {"absent": "fixed"}, 103 / 450),
    ],
)
def test_smp_reductions_with_zero_for_absent_classes(toy: Toy, reduction, metric, rule, expected) -> None:
    """All but the all-void image, which smp would count as a zero."""
    counts = toy.count()[:3]
    theirs = smp_iou(toy, reduction, zero_division=0.0)
    assert metric(counts, **rule) == pytest.approx(theirs) == pytest.approx(expected)


def test_smp_rewards_absent_classes_by_default(toy: Toy) -> None:
    """Its zero_division of 1 adds a perfect class 4: (13/6 + 1) / 5, which no rule of ours gives."""
    assert smp_iou(toy, "macro", zero_division=1.0) == pytest.approx(19 / 30)


def smp_iou(toy: Toy, reduction: str, zero_division: float) -> float:
    smp_metrics = pytest.importorskip("segmentation_models_pytorch.metrics")
    stats = smp_metrics.get_stats(
        toy.prediction[:3], toy.truth[:3], mode="multiclass", ignore_index=VOID, num_classes=toy.classes
    )
    return float(smp_metrics.iou_score(*stats, reduction=reduction, zero_division=zero_division))
