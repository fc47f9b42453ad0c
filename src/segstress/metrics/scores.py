"""Scores: pure functions of counts (images, classes, 3), the same on NumPy arrays and on torch tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, Literal, get_args

from jaxtyping import Float64, Shaped

from ..core import BadInput
from .counts import ACTUAL, HITS, PREDICTED
from .metric import Array, Zone, declare, exact, metrics, over_images, over_pool, ratio

Absent = Literal["present", "truth", "fixed", "zero-background"]
ZERO: Literal["zero-background"] = (
    "zero-background"  # of figures without background: it counts all the same, as a class of IoU 0
)
EVERYWHERE: tuple[Zone, ...] = ("all", "foreground", "regions")


def image_accuracy(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """Return the share of correct pixels of each image; NaN where no pixel has a truth."""
    hits, _, actual = columns(counts)
    return ratio(hits.sum(-1), actual.sum(-1))


def image_miou(counts: Shaped[Array, "*images classes 3"], absent: Absent = "present") -> Float64[Array, "*images"]:
    """Return the mean IoU of each image over the classes that the rule takes; NaN where no pixel has a truth."""
    hits, predicted, actual = columns(counts)
    union = predicted + actual - hits
    iou = hits / (union + (union == 0))
    taken = classes_taken(union, actual, absent)
    known = actual.sum(-1) > 0  # without a truth even the fixed rule gives NaN, never zero
    return ratio((iou * taken).sum(-1), (taken.sum(-1) + int(absent == ZERO)) * known)


def classes_taken(union: Array, actual: Array, absent: str) -> Array:
    """Tell which classes a mean takes: those with a union (`present`), with a truth (`truth`) or all (`fixed`).

    `zero-background` takes those with a union and one more, as arXiv:2407.09150 without background must have."""
    if absent not in get_args(Absent):
        raise BadInput(f"absent: expected one of {', '.join(get_args(Absent))}, found '{absent}'")
    return {"present": union > 0, ZERO: union > 0, "truth": actual > 0, "fixed": union >= 0}[absent]


@metrics.register("accuracy")
@declare(zones=EVERYWHERE)
@over_pool
def accuracy(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """Accuracy: share of correct pixels among those of all images."""
    return image_accuracy(counts)


@metrics.register("accuracy_image_mean")
@declare(zones=EVERYWHERE, headline=False)
@over_images
def accuracy_image_mean(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """Image accuracy: share of correct pixels of an image, mean over images."""
    return image_accuracy(counts)


@metrics.register("cmiou")
@declare(goal="miou", pooled=True, zones=EVERYWHERE)
@over_pool
def cmiou(counts: Shaped[Array, "*images classes 3"], absent: Absent = "present") -> Float64[Array, "*images"]:
    """CmIoU: IoU of each class over the pixels of all images, mean over classes."""
    return image_miou(counts, absent)


@metrics.register("nmiou")
@declare(goal="miou", zones=("all", "foreground"))
@over_images
def nmiou(counts: Shaped[Array, "*images classes 3"], absent: Absent = "present") -> Float64[Array, "*images"]:
    """NmIoU: IoU of each class in an image, mean over its classes, then mean over images."""
    return image_miou(counts, absent)


@metrics.register("mean_accuracy")
@declare(chosen_by=image_accuracy, headline=False)
@over_pool
def mean_accuracy(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """Mean accuracy: share of correct pixels among the true ones of each class, mean over true classes (MPA)."""
    hits, _, actual = columns(counts)
    return ratio((hits / (actual + (actual == 0))).sum(-1), (actual > 0).sum(-1))


@metrics.register("fwiou")
@declare(goal="miou", chosen_by=image_miou, zones=("all",), headline=False)
@over_pool
def fwiou(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """FWIoU: IoU of each class over the pixels of all images, mean weighted by true pixels."""
    hits, predicted, actual = columns(counts)
    union = predicted + actual - hits
    return ratio((actual * hits / (union + (union == 0))).sum(-1), actual.sum(-1))


@dataclass(frozen=True)
class ClassTable(Generic[Array]):
    """Figures of each class over the pixels of all images; NaN where there is nothing to divide by."""

    iou: Float64[Array, " classes"]
    accuracy: Float64[Array, " classes"]
    precision: Float64[Array, " classes"]
    predicted: Float64[Array, " classes"]  # pixels
    actual: Float64[Array, " classes"]  # pixels


def class_table(counts: Shaped[Array, "images classes 3"]) -> ClassTable[Array]:
    """Return one line per class, of the pooled counts."""
    hits, predicted, actual = columns(counts.sum(0))
    union = predicted + actual - hits
    return ClassTable(ratio(hits, union), ratio(hits, actual), ratio(hits, predicted), predicted, actual)


def foreground(counts: Shaped[Array, "*images classes 3"], background: int) -> Shaped[Array, "*images others 3"]:
    """Return the counts of the zone `foreground` without the background class, which has no truth there."""
    return counts[..., [class_ for class_ in range(counts.shape[-2]) if class_ != background], :]


def left_out(counts: Shaped[Array, "images classes 3"]) -> int:
    """Count images without a pixel that has a truth: NaN by themselves, absent from every mean."""
    return int((counts[..., ACTUAL].sum(-1) == 0).sum())


def rce(clean: float, perturbed: float) -> float:
    """Return the relative change of a score against clean in the same zone (arXiv:2504.01632); NaN where clean is 0."""
    return (clean - perturbed) / clean if clean else math.nan


def columns(counts: Shaped[Array, "*images classes 3"]) -> tuple[Array, Array, Array]:
    """Return hits, predicted and actual pixels of each class, in double precision."""
    numbers = exact(counts)
    return numbers[..., HITS], numbers[..., PREDICTED], numbers[..., ACTUAL]
