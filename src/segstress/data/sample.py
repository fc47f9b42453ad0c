"""One image with its labels, as a dataset hands it over."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int64
from torch import Tensor


@dataclass(frozen=True)
class Sample:
    """An image at its native size, what is known of its pixels and where it came from."""

    id: str
    image: Float[Tensor, "c h w"]  # in [0, 1]
    labels: Int64[Tensor, "h w"]  # 0 where not valid
    valid: Bool[Tensor, "h w"]  # False on void pixels, and everywhere on unlabelled images
    source: str  # sha256 of the image file; of made data a digest of settings and id
    notes: tuple[str, ...] = ()  # conversions that were made
