"""How long the steps of a search for smallness are, and how far they may lead: both fit themselves to the image."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .feasible import Deltas, Feasible

FIRST = 0.1 / 255  # first step of every pixel; the smallest answers of unprotected networks are near 0.3/255
RANGE = 1000  # by which steps grow in the first third of a run, if nothing succeeds; 0.1/255 becomes 100/255
SHRINK, GROW = 0.97, 1.01  # of the leash, at a success and at a failure


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


class Leash:
    """A ball that follows the border of success, since what is longer than a success is of no use.

    For linf only, where it clips the longest elements and leaves the others; in l2 it would shorten them all."""

    def __init__(self, allowed: Feasible) -> None:
        self.allowed = allowed
        self.length = allowed.images.new_full((len(allowed.images),), torch.inf)

    def update(self, success: Bool[Tensor, " b"], size: Float[Tensor, " b"]) -> None:
        """Shorter than what succeeds; it grows slowly where nothing does, because the border may bend."""
        self.length = torch.where(success, self.length.minimum(SHRINK * size), GROW * self.length)

    def hold(self, delta: Deltas) -> Deltas:
        """The delta, brought back into the ball."""
        return self.allowed.project(delta, self.length) if self.allowed.norm == "linf" else delta
