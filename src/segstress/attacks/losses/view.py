"""What a loss sees of one forward pass, and the register of losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Bool, Float, Int64
from pydantic import AfterValidator
from torch import Tensor

from ...core import Registry
from ...metrics.counts import predict

Pixels = Float[Tensor, "b h w"]
Mask = Bool[Tensor, "b h w"]
FAR = 100.0  # in medians: a pixel that is farther from changing sides tells nothing of the others


class Past(NamedTuple):
    """The pixels that an attack has won so far."""

    first: Mask  # at its first look
    once: Mask  # at any look


Recall = Callable[[Mask], Past]


@dataclass(frozen=True)
class View:
    """What a loss sees of one forward pass; what the class maps cost is paid by those who ask for them."""

    logits: Float[Tensor, "b k h w"]
    labels: Int64[Tensor, "b h w"]  # the truth, or the goal of a targeted attack
    aim: Mask  # pixels that count
    balance: Float[Tensor, "b h w"]  # weight of each pixel's class
    progress: float  # 0 at the first step, towards 1 at the last
    targeted: bool
    check: bool = True  # whether predicting refuses logits that are no numbers
    valid: Mask | None = None  # pixels that have a label, aimed at or not, where that is known
    sound: Mask | None = None  # of those, right in the clean image
    recall: Recall | None = None  # remembers which pixels were won when; without it there was no earlier look
    first_distance: Float[Tensor, " b"] | None = None  # mean |margin| at the attack's first look; none = this is it

    @cached_property
    def prediction(self) -> Int64[Tensor, "b h w"]:
        """The class of every pixel."""
        return predict(self.logits.detach(), check=self.check)

    @cached_property
    def remaining(self) -> Mask:
        """Pixels still to be won: right, or not yet at the goal."""
        return self.aim & ((self.prediction != self.labels) if self.targeted else (self.prediction == self.labels))

    @cached_property
    def past(self) -> Past:
        """Which pixels this and the earlier looks have won; only looks whose loss asks for it are remembered."""
        won = self.aim & ~self.remaining
        return Past(won, won) if self.recall is None else self.recall(won)

    @cached_property
    def rivals(self) -> Int64[Tensor, "b h w"]:
        """The best class of every pixel but its label."""
        return predict(self.logits.detach(), check=False, without=(self.labels,))

    @cached_property
    def distance(self) -> Float[Tensor, " b"]:
        """How far the aimed pixels are from changing sides, in logits, on average; 1 where there is nothing to tell.

        A class that the model never says may lie at -1e9 or -inf: such pixels must not decide what is far."""
        rival, label = self.of(self.rivals, self.labels)
        gaps = (rival - label).detach().abs()
        known = torch.where(self.aim & gaps.isfinite(), gaps, torch.nan).flatten(1)
        typical = known.nanmedian(1, keepdim=True).values
        near = known <= torch.where(typical > 0, FAR * typical, torch.inf)  # NaN is not
        mean = torch.where(near, known, 0).sum(1) / near.sum(1).clamp(min=1)
        return torch.where(mean > 0, mean, 1)

    @property
    def unit(self) -> Float[Tensor, "b 1 1"]:
        """The distance at the first look: what makes a loss free of the logits' scale.

        That look is at the clean image, but with keep=last at the attack's own start, which costs no pass."""
        distance = self.distance if self.first_distance is None else self.first_distance
        return distance[:, None, None]

    def of(self, *classes: Int64[Tensor, "b h w"]) -> tuple[Pixels, ...]:
        """Return the logits of these classes at each pixel; one gather for all, since going back fills all logits."""
        return self.logits.gather(1, torch.stack(classes, 1)).unbind(1)


def length(vectors: Float[Tensor, "b k h w"]) -> Pixels:
    """Measure over the class axis; on a CPU much faster than `norm`, and with a slope of zero at zero."""
    return (vectors.square().sum(1) + 1e-24).sqrt()


Loss = Callable[[View], Pixels | Float[Tensor, " b"]]  # a value a pixel; or one an image, which honours the aim itself
losses: Registry[Loss] = Registry("loss")


def _known(name: str) -> str:
    losses.get(name)  # raises where the name is unknown
    return name


LossName = Annotated[str, AfterValidator(_known)]
