"""NmIoU by another rule for absent classes, beside the usual one in every report."""

from __future__ import annotations

from jaxtyping import Float64, Shaped

from .metric import Array, declare, metrics, over_images
from .scores import Absent, image_miou


@metrics.register("nmiou_truth")
@declare(goal="miou", zones=("all",), headline=False)
@over_images
def nmiou_truth(counts: Shaped[Array, "*images classes 3"], absent: Absent = "truth") -> Float64[Array, "*images"]:
    """NmIoU of true classes: as NmIoU, but a class that is only predicted in an image counts nothing there."""
    return image_miou(counts, absent)
