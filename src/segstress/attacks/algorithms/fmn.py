"""Fast minimum-norm attack: a ball whose radius follows the border of success."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..losses import LossName
from ..search.feasible import Feasible, PerImage, per_image
from ..search.problem import Problem


@attacks.register("fmn-auto")
@settings
class FMN:
    """Guess the border by linearisation, then cross it in ever finer steps (Pintor et al. 2021, arXiv:2102.12827).

    Ours are steps in radii, and the margins of the pixels that still stand."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.02
    loss: LossName = "masked-margin"  # the paper's: margin
    steps: Count = 200
    shrink: Annotated[float, Field(gt=0, lt=1)] = 0.05  # share by which the radius changes at first; 0.001 at last
    step: Annotated[float, Field(gt=0)] = 1.0  # first length of a step, in its unit; paper: 10 for linf, 1 for l2
    unit: Literal["radius", "l2"] = "radius"  # of a step; l2 = as published, a fixed l2 length whatever the norm
    keep: Keep = "best"  # iterate to return; released: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Let radius and step follow half a cosine down to a hundredth and a fiftieth."""
        allowed, delta = problem.feasible, problem.start(False)
        best = longest = allowed.size(torch.maximum(allowed.upper, -allowed.lower))
        radius, succeeded = longest, torch.zeros_like(longest, dtype=torch.bool)
        for step in range(self.steps):
            fade = (1 + math.cos(math.pi * step / self.steps)) / 2
            shrink = 0.001 + (self.shrink - 0.001) * fade
            look = problem.look(delta, self.loss, step / self.steps)
            size, succeeded = allowed.size(delta), succeeded | look.success
            best = torch.where(look.success, size.minimum(best), best)
            outside = torch.where(succeeded, radius * (1 + shrink), size + _distance(allowed, look.loss, look.gradient))
            radius = torch.where(look.success, (radius * (1 - shrink)).minimum(best), outside).minimum(longest)
            length = self.step * (0.01 + 0.99 * fade)
            delta = allowed.project(delta + length * self._climb(allowed, look.gradient, radius), radius)
        return delta

    def _climb(self, allowed: Feasible, gradient: Tensor, radius: PerImage) -> Tensor:
        if self.unit == "l2":
            return gradient / per_image(gradient.flatten(1).norm(dim=1).clamp(min=1e-12))
        return per_image(radius) * allowed.along(gradient)

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps


def _distance(allowed: Feasible, loss: PerImage, gradient: Tensor) -> PerImage:
    """Estimate how far away the border lies if the loss is linear: its value over the dual norm of its gradient."""
    flat = gradient.flatten(1)
    steepness = flat.abs().sum(1) if allowed.norm == "linf" else flat.norm(dim=1)
    return loss.abs() / steepness.clamp(min=torch.finfo(flat.dtype).tiny)
