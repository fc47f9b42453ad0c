"""The IoU that other libraries call micro: classes are put together before the ratio is taken.

In no report: over all classes it says the same as accuracy, in other numbers."""

from __future__ import annotations

from jaxtyping import Float64, Shaped

from .metric import Array, declare, metrics, over_images, over_pool, ratio
from .scores import columns


def image_micro_iou(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """Return hits over unions, each summed over classes: a / (2 - a) for an accuracy of a over all classes."""
    hits, predicted, actual = (column.sum(-1) for column in columns(counts))
    return ratio(hits, (predicted + actual - hits) * (actual > 0))


@metrics.register("micro_iou")
@declare(zones=(), headline=False)
@over_pool
def micro_iou(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """Micro IoU: hits over unions, each summed over classes and images."""
    return image_micro_iou(counts)


@metrics.register("micro_iou_image_mean")
@declare(zones=(), headline=False)
@over_images
def micro_iou_image_mean(counts: Shaped[Array, "*images classes 3"]) -> Float64[Array, "*images"]:
    """Image micro IoU: hits over unions, each summed over the classes of an image, mean over images."""
    return image_micro_iou(counts)
