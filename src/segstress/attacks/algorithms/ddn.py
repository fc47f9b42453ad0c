"""Decoupled direction and norm: the gradient says where to go, success says how far."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ..algorithm import Seeks, attacks
from ..losses import LossName
from ..minimal.step_length import StepLength
from ..search.feasible import per_image
from ..search.problem import Problem


@attacks.register("ddn")
@settings
class DDN:
    """Shrink the ball on success, grow it on failure (Rony et al. 2019, arXiv:1811.09600)."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.02
    loss: LossName = "masked-margin"
    steps: Annotated[int, Field(ge=1)] = 200
    step: Annotated[float, Field(gt=0)] = 1.0  # first length of a step, in radii
    change: Annotated[float, Field(gt=0, lt=1)] = (
        0.05  # share by which the radius shrinks or grows after the first success
    )

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Steps that shorten along half a cosine, each brought back into the ball."""
        allowed, delta = problem.feasible, problem.start(False)
        step_length = StepLength(allowed, self.steps)
        radius = step_length.length
        for step in range(self.steps):
            look = problem.look(delta, self.loss, step / self.steps)
            step_length.update(look.success, allowed.size(delta))
            changed = radius * torch.where(look.success, 1 - self.change, 1 + self.change)
            radius = torch.where(step_length.succeeded, changed, step_length.length)
            length = self.step * radius * (0.01 + 0.99 * (1 + math.cos(math.pi * step / self.steps)) / 2)
            delta = allowed.project(delta + per_image(length) * allowed.along(look.gradient), radius)
        return delta

    def passes(self) -> tuple[int, int]:
        """One pass a step."""
        return self.steps, self.steps
