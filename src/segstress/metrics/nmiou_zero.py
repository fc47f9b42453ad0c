"""NmIoU without background in the reading that fits the figures of arXiv:2407.09150."""

from __future__ import annotations

from jaxtyping import Float64, Shaped

from .metric import Array, declare, metrics, over_images
from .scores import ZERO, Absent, image_miou


@metrics.register("nmiou_zero")
@declare(goal="miou", zones=("foreground",), headline=False)
@over_images
def nmiou_zero(counts: Shaped[Array, "*images classes 3"], absent: Absent = ZERO) -> Float64[Array, "*images"]:
    """NmIoU, background as 0: as NmIoU, but background counts as one more class, of IoU 0 (arXiv:2407.09150)."""
    return image_miou(counts, absent)
