"""The best delta seen so far, image by image, for one goal: the most harmful, or the smallest that harms enough."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from ...core import shares
from .feasible import per_image


class Tracker:
    """Keep, for every image, the delta with the lowest score; of equals the first, or the last where `newest` says."""

    def __init__(self, delta: Float[Tensor, "b c h w"], *, newest: bool = False) -> None:
        self.delta, self.newest = torch.zeros_like(delta), newest
        self.score = torch.full(delta.shape[:1], torch.inf, dtype=torch.float64, device=delta.device)

    def show(
        self,
        score: Float[Tensor, " b"],
        delta: Float[Tensor, "b c h w"],
        eligible: Bool[Tensor, " b"],
    ) -> None:
        """Offer one delta an image; those not eligible are passed over."""
        better = eligible & (score <= self.score if self.newest else score < self.score)
        self.score = torch.where(better, score, self.score)
        self.delta = choose(better, delta, self.delta)


class SmallestTracker:
    """Keep, for every image, the shortest delta that does enough; until one does, the most harmful.

    It never asks for a value, so that a GPU need not wait for the host."""

    def __init__(self, delta: Float[Tensor, "b c h w"], enough: float, *, newest: bool = False) -> None:
        self.delta, self.enough, self.newest = torch.zeros_like(delta), enough, newest
        self.score = torch.full(delta.shape[:1], torch.inf, dtype=torch.float64, device=delta.device)
        self._longest = delta[0].numel()  # no delta in the box is longer, in any norm: a score above it is a failure

    @property
    def success(self) -> Bool[Tensor, " b"]:
        """Whether any delta did enough."""
        return self.score <= self._longest

    def show(
        self,
        remaining: Float[Tensor, " b"],
        aimed: Int64[Tensor, " b"],
        size: Float[Tensor, " b"],
        delta: Float[Tensor, "b c h w"],
    ) -> None:
        """Offer one delta an image."""
        score = torch.where(suffices(remaining, aimed, self.enough), size.double(), self._longest + 1 + remaining)
        better = score <= self.score if self.newest else score < self.score
        self.score = torch.where(better, score, self.score)
        self.delta = torch.where(per_image(better), delta, self.delta)

    def settle(self, delta: Float[Tensor, "b c h w"], size: Float[Tensor, " b"], success: Bool[Tensor, " b"]) -> None:
        """Put these deltas in place of what was kept."""
        self.delta = torch.where(per_image(success), delta, self.delta)
        self.score = torch.where(success, size.double(), self.score)

    def forget_failures(self) -> None:
        """Put the clean image in place of every delta that does not do enough."""
        self.delta = torch.where(per_image(self.success), self.delta, 0)


def suffices(remaining: Float[Tensor, " b"], aimed: Int64[Tensor, " b"], enough: float) -> Bool[Tensor, " b"]:
    """Tell whether a share `enough` of the pixels is won; of whole numbers, so that rounding cannot decide."""
    enough_won: Bool[Tensor, " b"] = shares.suffices(aimed - remaining.double(), aimed, enough)
    return enough_won


def choose(
    mask: Bool[Tensor, " b"], new: Float[Tensor, "b c h w"], old: Float[Tensor, "b c h w"]
) -> Float[Tensor, "b c h w"]:
    """Take the new delta of the images in the mask, the old one of the others; no copy where all agree."""
    if mask.all():
        return new
    return torch.where(per_image(mask), new, old) if mask.any() else old
