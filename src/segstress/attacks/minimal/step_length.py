"""How long the steps of a search for smallness are, and how far they may lead: both fit themselves to the image."""

from __future__ import annotations

import torch
from jaxtyping import Bool
from torch import Tensor

from ..search.feasible import Deltas, Feasible, PerImage

LONGEST = 100 / 255  # step that steps grow to in the first third of a run, if nothing succeeds
FIRST = 0.1 / 255  # step of every pixel; the smallest answers of unprotected networks are near 0.3/255
BALL_LONGEST = 30 / 255  # longest step in a ball: where it does not succeed, it is the direction that needs time
BALL_FIRST = 1 / 255  # first step in a ball, which leads back what is too long
SHRINK, GROW = 0.97, 1.01  # of the ball: at a success, and at a failure after one
SHARE = 0.3  # length of a step, of the size at the first success


class StepLength:
    """One length for each image, found on the way, so that 0.3/255 and 30/255 need the same settings."""

    def __init__(self, allowed: Feasible, steps: int, first: float = FIRST, longest: float = LONGEST) -> None:
        self.growth = (LONGEST / first) ** (3 / steps)  # slow in long runs: else it overshoots where a network bends
        whole = allowed.extent(torch.ones_like(allowed.images))
        self.length, self.longest = first * whole, longest * whole
        self.succeeded = torch.zeros_like(self.length, dtype=torch.bool)

    def update(self, success: Bool[Tensor, " b"], size: PerImage) -> None:
        """Grow where nothing has succeeded yet; at the first success the length becomes the size that succeeded."""
        grown = torch.where(success, size, (self.growth * self.length).minimum(self.longest))
        self.length = torch.where(self.succeeded, self.length, grown)
        self.succeeded = self.succeeded | success


class Clock:
    """The time since the first success, or since the middle of the run where it comes later."""

    def __init__(self, like: PerImage, steps: int) -> None:
        self.steps, self.step, self.first = steps, 0, torch.full_like(like, steps // 2)

    def update(self, success: Bool[Tensor, " b"]) -> None:
        """Note whether the next step's look did enough."""
        self.first = torch.where(success & (self.first > self.step), self.step, self.first)
        self.step += 1

    def elapsed(self, step: int) -> PerImage:
        """Return the share of the way from the first success to the end that lies behind a step."""
        return (step - self.first).clamp(min=0) / (self.steps - self.first)


class GivenRate:
    """Steps of a length that was chosen beforehand, and nothing that holds the delta back: as papers have it."""

    def __init__(self, allowed: Feasible, steps: int, rate: float) -> None:
        self.rate = allowed.images.new_full((len(allowed.images),), rate)
        self._clock = Clock(self.rate, steps)

    def update(self, success: Bool[Tensor, " b"], size: PerImage) -> None:
        """Note the first success."""
        self._clock.update(success)

    def elapsed(self, step: int) -> PerImage:
        """Return the share of the run since the first success that lies behind a step."""
        return self._clock.elapsed(step)

    def progress(self, step: int) -> float:
        """Return the share of the whole run that lies behind a step."""
        return step / self._clock.steps

    def hold(self, delta: Deltas) -> Deltas:
        """Return the delta as it is."""
        return delta


class TrustBall:
    """Steps whose length is found, in linf inside a ball that follows the border of success: ours.

    What is longer than a success is of no use. In linf the ball leaves the shorter elements as they are; in other norms
    it would shorten them all, so there it is not active."""

    def __init__(self, allowed: Feasible, steps: int) -> None:
        self.allowed, self.active = allowed, allowed.norm == "linf"
        self.step_length = StepLength(allowed, steps, *((BALL_FIRST, BALL_LONGEST) if self.active else ()))
        self.radius, self.widening = self.step_length.length, BALL_LONGEST ** (-3 / steps)
        self._clock = Clock(self.radius, steps)
        self._filling = allowed.extent(torch.ones_like(allowed.images))  # a step is of elements, a size of the whole

    def update(self, success: Bool[Tensor, " b"], size: PerImage) -> None:
        """Shrink the ball below what succeeds; grow it slowly where nothing does, because the border may bend."""
        self._clock.update(success)
        self.step_length.update(success, size)
        followed = torch.where(success, self.radius.minimum(SHRINK * size), GROW * self.radius)
        grown = self.step_length.length.maximum(self.widening * self.radius)
        self.radius = torch.where(self.step_length.succeeded, followed, grown)

    @property
    def rate(self) -> PerImage:
        """A share of the size at the first success, spread over the elements."""
        return SHARE * self.step_length.length / self._filling

    def elapsed(self, step: int) -> PerImage:
        """Return the share of the run since the first success that lies behind a step once it is taken."""
        return self._clock.elapsed(step + 1)

    def progress(self, step: int) -> float | PerImage:
        """Return the share of the run that lies behind a step: in a ball, of what is left after the first success."""
        return self.elapsed(step) if self.active else step / self._clock.steps

    def hold(self, delta: Deltas) -> Deltas:
        """Bring the delta back into the ball."""
        return self.allowed.project(delta, self.radius) if self.active else delta


def pace(allowed: Feasible, steps: int, rate: float | None) -> GivenRate | TrustBall:
    """Choose the rate that was given, or one that is found for each image."""
    return TrustBall(allowed, steps) if rate is None else GivenRate(allowed, steps, rate)
