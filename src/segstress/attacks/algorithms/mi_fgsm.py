"""The iterated sign step with momentum."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..losses import LossName
from ..search.problem import Problem


@attacks.register("mi-fgsm")
@settings
class MIFGSM:
    """Steps along a running sum of normalised gradients, which transfers well (Dong et al. 2018, arXiv:1710.06081)."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "ce"
    steps: Count = 10
    decay: Annotated[float, Field(ge=0)] = 1.0  # what stays of the sum at each step
    keep: Keep = "last"  # iterate to return, the last as published

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Take steps that together just reach the border of the ball."""
        allowed, radius, delta = problem.feasible, problem.threat.radius, problem.start(random=False)
        momentum = torch.zeros_like(delta)
        for step in range(self.steps):
            if problem.finished:
                break
            gradient = problem.look(delta, self.loss, step / self.steps).gradient
            length = gradient.abs().sum((1, 2, 3), keepdim=True).clamp(min=torch.finfo(gradient.dtype).tiny)
            momentum = self.decay * momentum + gradient / length
            delta = allowed.project(delta + radius / self.steps * allowed.steepest(momentum), radius)
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
