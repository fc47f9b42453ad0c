"""What a pass of the model showed of every image of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor

from .feasible import Deltas, PerImage


class Effect(NamedTuple):
    """What the predictions of a look were worth; images left out have won, and beat no score."""

    remaining: PerImage  # pixels still to be won
    miou: PerImage
    damage: PerImage
    success: Bool[Tensor, " b"]


@dataclass(frozen=True)
class Look:
    """What one pass showed of every image; those left out show zeros, and damage 1."""

    gradient: Deltas | Float[Tensor, "b 0"]  # uphill, of the loss summed over an image's pixels; empty after a peek
    loss: PerImage  # the larger, the better for the attacker
    track: PerImage  # the second loss, on the same logits
    effect: Callable[[], Effect]  # worked out when first asked for, unless the memory needed it anyway

    @property
    def damage(self) -> PerImage:
        """Share of the aimed pixels that are won."""
        return self.effect().damage

    @property
    def success(self) -> Bool[Tensor, " b"]:
        """Whether that is enough."""
        return self.effect().success

    @property
    def miou(self) -> PerImage:
        """Of the prediction against the labels, or against the goal; 0 where only smallness counts."""
        return self.effect().miou
