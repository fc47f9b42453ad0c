"""Projected Adam: the gradient itself, not its sign, with a step for every pixel."""

from __future__ import annotations

from typing import ClassVar, Literal

from jaxtyping import Float
from torch import Tensor

from ...core import Radius, settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..losses import LossName
from ..search.adam import Moments
from ..search.problem import Problem


@attacks.register("padam")
@settings
class PAdam:
    """Adam with AMSGrad on the delta, projected after each step (Halmosi et al. 2024, arXiv:2407.09150)."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "ce"
    steps: Count = 200
    rate: Radius = 2 / 255  # length of a step where the gradient is steady
    random_start: bool = True
    reduction: Literal["sum", "mean"] = "sum"  # of the loss over pixels; paper: mean, on which Adam's floor weighs
    keep: Keep = "best"  # iterate to return; paper: last

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Climb by running means of the gradient and of its square."""
        delta = problem.start(self.random_start)
        moments = Moments(delta, amsgrad=True)
        pixels = delta[0, 0].numel() if self.reduction == "mean" else 1
        for step in range(self.steps):
            if problem.finished:
                break
            moments.update(problem.look(delta, self.loss, step / self.steps).gradient / pixels)
            delta = problem.feasible.project(delta + moments.climb(self.rate), problem.threat.radius)
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
