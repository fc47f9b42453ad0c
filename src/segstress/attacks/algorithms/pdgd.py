"""Primal-dual gradient descent: as PDPGD, but the norm is part of the loss."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Radius, settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..minimal.duals import Duals
from ..minimal.step_length import SHARE, StepLength
from ..search.adam import Moments
from ..search.feasible import per_image
from ..search.problem import Problem


@attacks.register("pdgd-auto")
@settings
class PDGD:
    """Adam on the weighted margins and the l2 norm together (Matyasko & Chau 2021, arXiv:2106.01538).

    Ours is the length of the steps, found for each image."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = None  # it measures in l2, whatever the norm of the threat
    steps: Count = 500
    rate: Radius | None = None  # first length of a step; none = found for each image; paper: 0.1
    fade: Annotated[float, Field(gt=0, le=1)] = 0.01  # share of the rate that is left at the last step
    norm_weight: Literal["ratio", "share"] = "ratio"  # what the norm weighs: over the pixels' weight, or by itself
    least: Annotated[float, Field(gt=0, lt=1)] = 1e-12  # ratio of a pixel's weight to the norm's; released: 1e-6
    keep: Keep = "best"  # iterate to return; released: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Step by Adam on margins and norm; raise or lower each dual by the sign of its margin."""
        allowed, delta = problem.feasible, problem.start(False)
        duals = Duals(problem, self.steps, self.norm_weight, self.least)
        step_length, moments = StepLength(allowed, self.steps), Moments(delta)
        filling = allowed.size(torch.ones_like(delta))  # Adam steps by elements, sizes are of the whole
        for step in range(self.steps):
            look = problem.look(delta, duals.at(step), step / self.steps)
            step_length.update(look.success, allowed.size(delta))
            length = delta.flatten(1).norm(dim=1).clamp(min=torch.finfo(delta.dtype).tiny)
            moments.update(look.gradient - per_image(duals.norm_weight) * (delta / per_image(length)))
            first = SHARE * step_length.length / filling if self.rate is None else torch.full_like(filling, self.rate)
            rate = first * self.fade ** (step / self.steps)
            delta = allowed.project(delta + moments.climb(per_image(rate)), problem.reach)
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
