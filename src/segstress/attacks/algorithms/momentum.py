"""Steepest steps along a running mean of the gradient, from far too long to hardly any."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ...core.quantities import Count
from ..algorithm import Seeks, attacks
from ..losses import LossName
from ..search.problem import Problem


@attacks.register("momentum")
@settings
class Momentum:
    """Momentum on gradients of one length (MI-FGSM, arXiv:1710.06081), looking ahead (NI-FGSM, arXiv:1908.06281).

    Ours is the path of steps, half a cosine that begins with twice the ball's diameter: for the first half of the run
    the delta jumps from corner to corner of the ball, then it settles."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "annealed-error"
    steps: Count = 200
    longest: Annotated[float, Field(gt=0)] = 4.0  # first step, in radii
    shortest: Annotated[float, Field(ge=0)] = 0.01  # last step, in radii
    memory: Annotated[float, Field(ge=0, lt=1)] = 0.5  # of the running mean
    random_start: bool = True

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Climb from the start."""
        return self.climb(problem, problem.start(self.random_start))

    def climb(self, problem: Problem, delta: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        """Follow the running mean, one gradient ahead of it."""
        allowed, radius, mean = problem.feasible, problem.threat.radius, torch.zeros_like(delta)
        for step in range(self.steps):
            if problem.finished:
                break
            progress = step / self.steps
            gradient = allowed.along(problem.look(delta, self.loss, progress).gradient)
            mean = mean.lerp(gradient, 1 - self.memory)
            ahead = mean.lerp(gradient, 1 - self.memory)
            fade = (1 + math.cos(math.pi * progress)) / 2
            length = radius * (self.shortest + (self.longest - self.shortest) * fade)
            delta = allowed.project(delta + length * allowed.steepest(ahead), radius)
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
