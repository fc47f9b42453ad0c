"""How long the steps of a search for smallness are: they grow until an image is broken, and then fit its scale."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .feasible import Feasible

FIRST = 0.1 / 255  # first step of every pixel; the smallest answers of unprotected networks are near 0.3/255
RANGE = 1000  # by which steps grow in the first third of a run, if nothing succeeds; 0.1/255 becomes 100/255


class Stride:
    """One length for each image, found on the way, so that 0.3/255 and 30/255 need the same settings."""

    def __init__(self, allowed: Feasible, steps: int) -> None:
        self.growth = RANGE ** (3 / steps)  # slow in long runs: fast growth overshoots where a network bends
        self.length = FIRST * allowed.extent(torch.ones_like(allowed.images))
        self.longest = RANGE * self.length
        self.found = torch.zeros_like(self.length, dtype=torch.bool)

    def update(self, success: Bool[Tensor, " b"], size: Float[Tensor, " b"]) -> None:
        """Grow where nothing has succeeded yet; at the first success the length becomes the size that succeeded."""
        grown = torch.where(success, size, (self.growth * self.length).minimum(self.longest))
        self.length = torch.where(self.found, self.length, grown)
        self.found = self.found | success
