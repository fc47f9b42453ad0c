"""Projected Adam: the gradient itself, not its sign, with a step for every pixel."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Radius, settings
from ..algorithm import Seeks, attacks
from ..losses import LossName
from ..search.problem import Problem


@attacks.register("padam")
@settings
class PAdam:
    """Adam with AMSGrad on the delta, projected after each step (Halmosi et al. 2024, arXiv:2407.09150)."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "ce"
    steps: Annotated[int, Field(ge=1)] = 200
    rate: Radius = 2 / 255  # length of a step where the gradient is steady
    random_start: bool = True
    variant: Literal["ours", "paper"] = "ours"  # paper = mean over pixels, on which Adam's floor weighs; add keep=last

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Climb by running means of the gradient and of its square."""
        delta = problem.start(self.random_start)
        mean, square, largest = (torch.zeros_like(delta) for _ in range(3))
        pixels = delta[0, 0].numel() if self.variant == "paper" else 1
        for step in range(1, self.steps + 1):
            if problem.finished:
                break
            gradient = problem.look(delta, self.loss, (step - 1) / self.steps).gradient / pixels
            mean.lerp_(gradient, 0.1)
            square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            torch.maximum(largest, square, out=largest)
            spread = largest.sqrt().div_((1 - 0.999**step) ** 0.5).add_(1e-8)
            climb = mean.div(spread).mul_(self.rate / (1 - 0.9**step))
            delta = problem.feasible.project(climb.add_(delta), problem.threat.radius)
        return delta

    def passes(self) -> tuple[int, int]:
        """One pass a step, and a look at the clean image and at the last iterate."""
        return self.steps + 2, self.steps
