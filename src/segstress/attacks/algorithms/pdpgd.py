"""Primal-dual proximal gradient descent: pixels bid for attention, the norm is a proximal step."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Norm, Radius, settings
from ..algorithm import Seeks, attacks
from ..minimal.duals import Duals
from ..minimal.prox import prox
from ..minimal.step_length import Leash
from ..search.polish import POLISHING
from ..search.problem import Problem

SHARE = 0.3  # length of a step, of the size at the first success


@attacks.register("pdpgd")
@settings
class PDPGD:
    """Adam on the weighted margins, a proximal step for the norm (Matyasko & Chau 2021, arXiv:2106.01538)."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.02
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1", "l0")
    steps: Annotated[int, Field(ge=1)] = 500
    rate: Radius | None = None  # first length of a step; none = found for each image, on a leash; paper: 0.01
    fade: Annotated[float, Field(gt=0, le=1)] = 0.01  # share of the rate that is left at the last step

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """A primal step by Adam, the norm's proximal step in Adam's metric, a dual step by the sign of each margin."""
        allowed, delta = problem.feasible, problem.start(False)
        duals, leash = Duals(problem, self.steps), Leash(allowed, self.steps)
        filling = allowed.extent(torch.ones_like(delta))  # Adam steps by elements, sizes are of the whole
        mean, square = torch.zeros_like(delta), torch.zeros_like(delta)
        for step in range(self.steps):
            look = problem.look(delta, duals.at(step), step / self.steps)
            extent = allowed.extent(delta)
            leash.update(look.success, extent)
            rate = SHARE * leash.length / filling if self.rate is None else torch.full_like(extent, self.rate)
            on_leash = self.rate is None and leash.held
            rate = rate * self.fade ** (leash.gone(step + 1) if on_leash else step / self.steps)
            mean.lerp_(look.gradient, 0.1)
            square.mul_(0.999).addcmul_(look.gradient, look.gradient, value=0.001)
            metric = (square / (1 - 0.999 ** (step + 1))).sqrt_().add_(1e-8)
            moved = delta + (rate / (1 - 0.9 ** (step + 1)))[:, None, None, None] * mean / metric
            delta = prox(allowed, moved, metric, rate * duals.norm_weight, near=extent)
            delta = leash.hold(delta) if on_leash else delta
        return delta

    def passes(self) -> tuple[int, int]:
        """One pass a step, a look at the clean image and at the last iterate, and the polish."""
        return self.steps + 2 + POLISHING, self.steps
