"""Primal-dual gradient descent: as PDPGD, but the norm is part of the loss."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Radius, settings
from ..algorithm import Seeks, attacks
from ..minimal.duals import Duals
from ..minimal.step_length import Stride
from ..search.polish import POLISHING
from ..search.problem import Problem

SHARE = 0.3  # length of a step, of the size at the first success


@attacks.register("pdgd")
@settings
class PDGD:
    """Adam on the weighted margins and the l2 norm together (Matyasko & Chau 2021, arXiv:2106.01538)."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = None  # it measures in l2, whatever the norm of the threat
    steps: Annotated[int, Field(ge=1)] = 500
    rate: Radius | None = None  # first length of a step; none = found for each image; paper: 0.1
    fade: Annotated[float, Field(gt=0, le=1)] = 0.01  # share of the rate that is left at the last step

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """A primal step by Adam on margins and norm, a dual step by the sign of each margin."""
        allowed, delta = problem.feasible, problem.start(False)
        duals, stride = Duals(problem, self.steps), Stride(allowed, self.steps)
        mean, square = torch.zeros_like(delta), torch.zeros_like(delta)
        filling = allowed.size(torch.ones_like(delta))  # Adam steps by elements, sizes are of the whole
        for step in range(self.steps):
            look = problem.look(delta, duals.at(step), step / self.steps)
            stride.update(look.success, allowed.size(delta))
            length = delta.flatten(1).norm(dim=1).clamp(min=torch.finfo(delta.dtype).tiny)[:, None, None, None]
            descent = look.gradient - duals.norm_weight[:, None, None, None] * (delta / length)
            mean.lerp_(descent, 0.1)
            square.mul_(0.999).addcmul_(descent, descent, value=0.001)
            metric = (square / (1 - 0.999 ** (step + 1))).sqrt_().add_(1e-8)
            rate = SHARE * stride.length / filling if self.rate is None else torch.full_like(filling, self.rate)
            rate = rate * self.fade ** (step / self.steps) / (1 - 0.9 ** (step + 1))
            delta = allowed.project(delta + rate[:, None, None, None] * mean / metric, problem.reach)
        return delta

    def passes(self) -> tuple[int, int]:
        """One pass a step, a look at the clean image and at the last iterate, and the polish."""
        return self.steps + 2 + POLISHING, self.steps
