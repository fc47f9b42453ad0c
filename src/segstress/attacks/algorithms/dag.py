"""Dense adversary generation: push every pixel that stands, until enough have fallen."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Radius, settings
from ..algorithm import Seeks, attacks
from ..search.polish import POLISHING
from ..search.problem import Problem


@attacks.register("dag")
@settings
class DAG:
    """Steps along the summed margins of standing pixels (Xie et al. 2017, arXiv:1703.08603)."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.3
    steps: Annotated[int, Field(ge=1)] = 200
    step: Radius = 0.003  # largest change of an element in a step; the paper's other: 0.001
    growth: Annotated[float, Field(ge=1)] = 1.05  # of the step from step to step, where the variant is ours
    variant: Literal["ours", "paper"] = "ours"  # paper = equal steps, and the clean image where none does enough

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Each image stops at its first success; it is small because nothing moved that had already fallen."""
        allowed, delta = problem.feasible, problem.start(False)
        done = torch.zeros(len(delta), dtype=torch.bool, device=delta.device)
        growth = self.growth if self.variant == "ours" else 1
        for step in range(self.steps):
            look = problem.look(delta, "masked-margin", step / self.steps, resting=done)
            done = done | look.success
            if done.all():
                break
            largest = look.gradient.abs().amax((1, 2, 3), keepdim=True).clamp(min=torch.finfo(delta.dtype).tiny)
            climb = torch.where(done[:, None, None, None], 0, look.gradient / largest)
            delta = allowed.project(delta + self.step * growth**step * climb, problem.reach)
        if self.variant == "paper":
            delta = torch.where(done[:, None, None, None], delta, 0)
            for smallest in problem.smallest.values():
                smallest.forget_failures()
        return delta

    def passes(self) -> tuple[int, int]:
        """One pass a step, a look at the clean image and at the last iterate, and the polish."""
        return self.steps + 2 + POLISHING, self.steps
