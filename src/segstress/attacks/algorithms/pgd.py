"""Projected gradient descent, the plain one."""

from __future__ import annotations

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from ...core import Radius, settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..losses import LossName
from ..search.problem import Problem


@attacks.register("pgd")
@settings
class PGD:
    """Steepest steps of one length, projected after each (Madry et al. 2018, arXiv:1706.06083).

    The plain search that presets settle. Unsettled it is ours: its paper attacks classifiers, by steps that it gives
    for their images only, so no figure of a segmentation model hangs on it, and the best iterate is kept."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "ce"
    steps: Count = 40
    step: Radius | None = None  # length of a step; none = 2.5 radius / steps
    random_start: bool = True
    keep: Keep = "best"  # iterate to return; the papers of its presets: last

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Climb from the start, every step as long as the last."""
        allowed, radius, delta = problem.feasible, problem.threat.radius, problem.start(self.random_start)
        length = 2.5 * radius / self.steps if self.step is None else self.step
        for step in range(self.steps):
            if problem.finished:
                break
            look = problem.look(delta, self.loss, step / self.steps)
            delta = allowed.project(delta + length * allowed.steepest(look.gradient), radius)
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
