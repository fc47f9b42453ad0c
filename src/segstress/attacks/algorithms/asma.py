"""Adaptive segmentation mask attack: longer steps the nearer the prediction comes to what is wanted."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ..algorithm import Seeks, attacks
from ..losses import Pixels, View
from ..minimal.step_length import Stride
from ..search.feasible import Feasible
from ..search.polish import POLISHING
from ..search.problem import Problem


@attacks.register("asma")
@settings
class ASMA:
    """Raise the wanted logits that do not win yet; the l2 norm pulls back (Ozbulak et al. 2019, arXiv:1907.13124)."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = None  # made for l2, and it never shrinks what succeeded
    steps: Annotated[int, Field(ge=1)] = 500
    base: Annotated[float, Field(gt=0)] = 0.05  # factor of a step; paper: 1e-7
    gain: Annotated[float, Field(ge=0)] = 0.1  # what the share of won pixels adds to it; paper: 1e-6
    variant: Literal["ours", "paper"] = "ours"  # paper = raw sums of logits, whose scale differs from model to model

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Gradient steps whose factor grows with the damage done."""
        allowed, delta = problem.feasible, problem.start(False)
        stride = Stride(allowed, self.steps)
        for step in range(self.steps):
            look = problem.look(delta, _wanted, step / self.steps)
            stride.update(look.success, allowed.size(delta))
            factor = (self.base + self.gain * look.damage)[:, None, None, None]
            climb = self._climb(allowed, look.gradient, stride) - 2 * delta
            delta = allowed.project(delta + factor * climb, problem.reach)
        return delta

    def _climb(self, allowed: Feasible, gradient: Tensor, stride: Stride) -> Tensor:
        if self.variant == "paper":
            return gradient
        return 3 * stride.length[:, None, None, None] * allowed.along(gradient)  # outweighs the norm's pull

    def passes(self) -> tuple[int, int]:
        """One pass a step, a look at the clean image and at the last iterate, and the polish."""
        return self.steps + 2 + POLISHING, self.steps


def _wanted(view: View) -> Pixels:
    (label,) = view.of(view.labels)
    return view.standing * label * (1 if view.targeted else -1)
