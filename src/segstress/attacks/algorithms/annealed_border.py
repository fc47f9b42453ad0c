"""The annealed border: the 0/1 loss, as sharp as the pixel that decides allows, in a ball that follows success."""

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
from ..minimal.deciding import DecidingError, easiest_rivals
from ..minimal.step_length import StepLength
from ..search.feasible import per_image
from ..search.problem import Problem

DARE = 0.8  # part of the share asked for that counts as success at first; all of it from the middle of the run on
PROBE = 0.25  # part of the run after which the rivals are chosen, and the largest part of it that this may cost
HASTE = 2  # the first success is sought in half the steps that others take


@attacks.register("annealed-border")
@settings
class AnnealedBorder:
    """Momentum on a 0/1 loss (docs/annealed.md) in DDN's moving ball (Rony et al. 2019, arXiv:1811.09600).

    Ours are the sharpness, set by the pixel that decides, the rivals, measured once a radius is known, and a ball
    that dares to be too small at first: what long steps cannot win in it, short ones will."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.02
    steps: Count = 200  # looks, those that choose the rivals included
    longest: Annotated[float, Field(gt=0)] = 0.5  # first step, in radii
    shortest: Annotated[float, Field(ge=0)] = 0.01  # last step, in radii
    memory: Annotated[float, Field(ge=0, lt=1)] = 0.5  # of the running mean
    change: Annotated[float, Field(gt=0, lt=1)] = 0.05  # share by which the radius shrinks or grows
    rivals: bool = True  # whether each pixel aims at the class that it reaches first

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Follow the running mean, one gradient ahead of it, in steps that shorten along half a cosine."""
        allowed, delta = problem.feasible, problem.start(False)
        loss, step_length = DecidingError(problem.threat.enough), StepLength(allowed, max(self.steps // HASTE, 1))
        radius, mean, spent = step_length.length, torch.zeros_like(delta), 0
        daring = torch.ones_like(step_length.succeeded)
        while spent < self.steps:
            progress = spent / self.steps
            look = problem.look(delta, loss, progress)
            spent += 1
            nearly, size = look.damage >= self._enough(problem, progress), allowed.size(delta)
            daring = daring & ((size > 0) | ~nearly)  # a clean image that wrong would pin its ball to nothing
            success = look.success | (nearly & daring)
            step_length.update(success, size)
            followed = torch.where(success, (1 - self.change) * radius.minimum(size), (1 + self.change) * radius)
            radius = torch.where(step_length.succeeded, followed, step_length.length)
            gradient = allowed.along(look.gradient)
            mean = mean.lerp(gradient, 1 - self.memory)
            ahead = mean.lerp(gradient, 1 - self.memory)
            fade = (1 + math.cos(math.pi * progress)) / 2
            length = radius * (self.shortest + (self.longest - self.shortest) * fade)
            delta = allowed.project(delta + per_image(length) * allowed.steepest(ahead), radius)
            if self._probes(loss, problem) and spent == max(int(PROBE * self.steps), 1):
                loss.rivals = easiest_rivals(problem, radius, loss.classes)
                spent += 2 * loss.classes
        return delta

    def _enough(self, problem: Problem, progress: float) -> float:
        return problem.threat.enough * (DARE + (1 - DARE) * min(2 * progress, 1))

    def _probes(self, loss: DecidingError, problem: Problem) -> bool:
        """Tell whether rivals are worth choosing: a goal has none, two classes have one, many cost too much."""
        return self.rivals and not problem.targeted and 2 < loss.classes <= PROBE * self.steps / 2

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
