"""The best delta seen so far, image by image, for one goal."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


class Tracker:
    """Keeps, for every image, the delta with the lowest score; the first of equals stays."""

    def __init__(self, delta: Float[Tensor, "b c h w"]) -> None:
        self.delta = torch.zeros_like(delta)
        self.score = torch.full(delta.shape[:1], torch.inf, dtype=torch.float64, device=delta.device)

    def show(
        self,
        score: Float[Tensor, " b"],
        delta: Float[Tensor, "b c h w"],
        eligible: Bool[Tensor, " b"],
    ) -> None:
        """Offer one delta an image; those not eligible are passed over."""
        better = eligible & (score < self.score)
        self.score = torch.where(better, score, self.score)
        self.delta = choose(better, delta, self.delta)


def choose(
    chosen: Bool[Tensor, " b"], new: Float[Tensor, "b c h w"], old: Float[Tensor, "b c h w"]
) -> Float[Tensor, "b c h w"]:
    """The new of the images chosen, the old of the others; no copy where all agree."""
    if chosen.all():
        return new
    return torch.where(chosen[:, None, None, None], new, old) if chosen.any() else old
