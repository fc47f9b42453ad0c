"""How long the steps of a search for smallness are, and how far they may lead: both fit themselves to the image."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..search.feasible import Deltas, Feasible

LONGEST = 100 / 255  # step that steps grow to in the first third of a run, if nothing succeeds
FIRST = 0.1 / 255  # step of every pixel; the smallest answers of unprotected networks are near 0.3/255
HELD = 30 / 255  # longest step on a leash: where it does not succeed, it is the direction that needs time
HELD_FIRST = 1 / 255  # step on a leash, which leads back what is too long
SHRINK, GROW = 0.97, 1.01  # of the leash: at a success, and at a failure after one


class Stride:
    """One length for each image, found on the way, so that 0.3/255 and 30/255 need the same settings."""

    def __init__(self, allowed: Feasible, steps: int, first: float = FIRST, longest: float = LONGEST) -> None:
        self.growth = (LONGEST / first) ** (3 / steps)  # slow in long runs: else it overshoots where a network bends
        whole = allowed.extent(torch.ones_like(allowed.images))
        self.length, self.longest = first * whole, longest * whole
        self.found = torch.zeros_like(self.length, dtype=torch.bool)

    def update(self, success: Bool[Tensor, " b"], size: Float[Tensor, " b"]) -> None:
        """Grow where nothing has succeeded yet; at the first success the length becomes the size that succeeded."""
        grown = torch.where(success, size, (self.growth * self.length).minimum(self.longest))
        self.length = torch.where(self.found, self.length, grown)
        self.found = self.found | success


class Leash(Stride):
    """And in linf a ball that follows the border of success, since what is longer than a success is of no use.

    In linf it leaves the shorter elements as they are; in other norms it would shorten them all, so there is none."""

    def __init__(self, allowed: Feasible, steps: int) -> None:
        self.allowed, self.steps, self.step, self.held = allowed, steps, 0, allowed.norm == "linf"
        super().__init__(allowed, steps, *((HELD_FIRST, HELD) if self.held else ()))
        self.ball, self.widening = self.length, HELD ** (-3 / steps)
        self.first = torch.full_like(self.length, steps // 2)  # step of the first success, the middle at the latest

    def update(self, success: Bool[Tensor, " b"], size: Float[Tensor, " b"]) -> None:
        """Smaller than what succeeds; the ball grows slowly where nothing does, because the border may bend."""
        self.first = torch.where(success & (self.first > self.step), self.step, self.first)
        self.step += 1
        super().update(success, size)
        followed = torch.where(success, self.ball.minimum(SHRINK * size), GROW * self.ball)
        self.ball = torch.where(self.found, followed, self.length.maximum(self.widening * self.ball))

    def gone(self, step: int) -> Float[Tensor, " b"]:
        """The share of the way from the first success to the end that lies behind a step."""
        return (step - self.first).clamp(min=0) / (self.steps - self.first)

    def hold(self, delta: Deltas) -> Deltas:
        """The delta, brought back into the ball."""
        return self.allowed.project(delta, self.ball) if self.held else delta
