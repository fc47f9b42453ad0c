"""Decoupled direction and norm: the gradient says where to go, success says how far."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ...core.quantities import Count, CountOrNone
from ..algorithm import Keep, Seeks, attacks
from ..losses import LossName
from ..minimal.step_length import StepLength
from ..search.feasible import Deltas, Feasible, PerImage, per_image
from ..search.problem import Problem


@attacks.register("ddn-auto")
@settings
class DDN:
    """Shrink the ball on success, grow it on failure (Rony et al. 2019, arXiv:1811.09600).

    Ours find the first radius, step in radii up the margins of the pixels that still stand, and may stay inside."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.02
    loss: LossName = "masked-margin"  # the paper's: ce
    steps: Count = 200
    step: Annotated[float, Field(gt=0)] = 1.0  # first length of a step, in its unit
    change: Annotated[float, Field(gt=0, lt=1)] = (
        0.05  # share by which the radius shrinks or grows; where the first is found, after the first success
    )
    first: Annotated[float, Field(gt=0)] | None = None  # radius at the start; none = found; paper: 1
    unit: Literal["radius", "l2"] = "radius"  # of a step; l2 = as published, a fixed l2 length whatever the norm
    ball: Literal["inside", "surface"] = "inside"  # where an iterate lies; paper: on its surface, but for the box
    levels: CountOrNone = 0  # of a pixel, to which deltas on the surface are rounded; 0 = not; released: 256
    keep: Keep = "best"  # iterate to return; paper: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Take steps that shorten along half a cosine, each brought back into the ball."""
        allowed, delta = problem.feasible, problem.start(False)
        step_length = StepLength(allowed, self.steps)
        radius = step_length.length if self.first is None else torch.full_like(step_length.length, self.first)
        longest = allowed.size(torch.maximum(allowed.upper, -allowed.lower))
        for step in range(self.steps):
            look = problem.look(delta, self.loss, step / self.steps)
            step_length.update(look.success, allowed.size(delta))
            changed = radius * torch.where(look.success, 1 - self.change, 1 + self.change)
            if self.first is None:
                radius = torch.where(step_length.succeeded, changed, step_length.length)
            else:
                radius = changed.minimum(longest)
            fade = 0.01 + 0.99 * (1 + math.cos(math.pi * step / self.steps)) / 2
            delta = self._fit(allowed, delta + self._climb(allowed, look.gradient, radius, fade), radius)
        return delta

    def _climb(self, allowed: Feasible, gradient: Deltas, radius: PerImage, fade: float) -> Deltas:
        if self.unit == "l2":
            return self.step * fade * gradient / per_image(gradient.flatten(1).norm(dim=1).clamp(min=1e-12))
        return per_image(self.step * radius * fade) * allowed.along(gradient)

    def _fit(self, allowed: Feasible, delta: Deltas, radius: PerImage) -> Deltas:
        """Bring a delta into the ball, or onto its surface and then into the box."""
        if self.ball == "inside":
            return allowed.project(delta, radius)
        delta = delta * (allowed.upper > allowed.lower)  # the region's part of it
        delta = delta * per_image(radius / allowed.size(delta).clamp(min=torch.finfo(delta.dtype).tiny))
        if self.levels:
            delta = (delta * (self.levels - 1)).round() / (self.levels - 1)
        return allowed.project(delta, math.inf)

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
