"""How finely a source stores its pixels: what a file of that depth makes of an image."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

EIGHT_BITS = 255


@dataclass(frozen=True)
class Depth:
    """The number of equal steps from 0 to 1 that can be stored."""

    steps: int = EIGHT_BITS

    def round(self, pixels: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return the nearest values that can be stored."""
        return (pixels * self.steps).round() / self.steps

    def __str__(self) -> str:
        bits = (self.steps + 1).bit_length() - 1
        return f"{bits}-bit" if 2**bits == self.steps + 1 else f"{self.steps + 1}-level"


def depth_of(scale: float | None) -> Depth:
    """Return the depth of files whose value `scale` is 1; without one, or with less, that of photographs."""
    return Depth(EIGHT_BITS if scale is None else max(round(scale), EIGHT_BITS))
