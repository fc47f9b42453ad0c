"""Primal-dual proximal gradient descent: pixels bid for attention, the norm is a proximal step."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Norm, Radius, settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..minimal.duals import Duals
from ..minimal.masking import Masking
from ..minimal.prox import inner_prox, prox
from ..minimal.step_length import pace
from ..search.adam import Moments
from ..search.feasible import per_image
from ..search.problem import Problem


@attacks.register("pdpgd-auto")
@settings
class PDPGD:
    """Adam on the weighted margins, a proximal step for the norm (Matyasko & Chau 2021, arXiv:2106.01538).

    Ours are the length of the steps, found for each image in a ball that follows success, and the exact prox."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.02
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1", "l0")
    steps: Count = 500
    rate: Radius | None = None  # first length of a step; none = found for each image, in a ball; paper: 0.01
    fade: Annotated[float, Field(gt=0, le=1)] = 0.01  # share of the rate that is left at the last step
    norm_weight: Literal["ratio", "share"] = "ratio"  # what the norm weighs: over the pixels' weight, or by itself
    prox: Literal["exact", "inner"] = "exact"  # inner = the released code's five steps towards it
    masking: Masking = "unlabelled"  # constraints left out: none, the hardest from the first step on, or more and more
    keep: Keep = "best"  # iterate to return; released: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Step by Adam, then by the norm's prox in Adam's metric; raise or lower each dual by its margin's sign."""
        allowed, delta = problem.feasible, problem.start(False)
        ball = pace(allowed, self.steps, self.rate)
        duals = Duals(problem, self.steps, self.norm_weight, masking=self.masking)
        moments = Moments(delta)
        for step in range(self.steps):
            look = problem.look(delta, duals.at(step), step / self.steps)
            extent = allowed.extent(delta)
            ball.update(look.success, extent)
            moments.update(look.gradient)
            rate = ball.rate * self.fade ** ball.progress(step)
            moved, pull = delta + moments.climb(per_image(rate)), rate * duals.norm_weight
            if self.prox == "inner":
                delta = inner_prox(allowed, moved, moments.metric, pull)
            else:
                delta = ball.hold(prox(allowed, moved, moments.metric, pull, near=extent))
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps
