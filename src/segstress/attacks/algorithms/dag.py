"""Dense adversary generation: push every pixel that stands, until enough have fallen."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Radius, settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..search.feasible import per_image
from ..search.problem import Problem


@attacks.register("dag-auto")
@settings
class DAG:
    """Steps along the summed margins of remaining pixels (Xie et al. 2017, arXiv:1703.08603).

    Ours are steps that grow until they do enough, and the best delta where none does."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.3
    steps: Count = 200
    step: Radius = 0.003  # largest change of an element; of arXiv:2206.07179, as 0.001; own code: 0.5/255
    growth: Annotated[float, Field(ge=1)] = 1.05  # of the step from step to step; released: 1
    box: Literal["project", "stick"] = "project"  # stick = as released: what once left [0, 1] is never moved again
    failed: Literal["best", "clean"] = "best"  # what an image gets where no delta does enough; released: clean
    keep: Keep = "best"  # iterate to return; released: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Stop each image at its first success; it is small because nothing moved that had already fallen."""
        allowed, delta = problem.feasible, problem.start(False)
        done = torch.zeros(len(delta), dtype=torch.bool, device=delta.device)
        for step in range(self.steps):
            look = problem.look(delta, "masked-margin", step / self.steps, resting=done)
            done = done | look.success
            if done.all():
                break
            free = (delta >= allowed.lower) & (delta <= allowed.upper)  # all of it, unless it sticks
            gradient = torch.where(free, look.gradient, 0)
            largest = gradient.abs().amax((1, 2, 3), keepdim=True).clamp(min=torch.finfo(delta.dtype).tiny)
            moved = delta + self.step * self.growth**step * torch.where(per_image(done), 0, gradient / largest)
            delta = moved if self.box == "stick" else allowed.project(moved, problem.reach)
        if self.failed == "clean":
            delta = torch.where(per_image(done), delta, 0)
            problem.forget_failures()
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
