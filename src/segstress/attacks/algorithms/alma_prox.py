"""ALMA prox: an augmented Lagrangian whose norm enters through its proximal operator."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import Radius, settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..losses import Pixels, View
from ..minimal.masking import Masking, spare
from ..minimal.penalties import logit_ratio, penalty_slope
from ..minimal.prox import prox
from ..minimal.step_length import pace
from ..search.feasible import per_image
from ..search.problem import Problem
from ..search.tracker import suffices

CHECK = 10  # steps after which a pixel's penalty is judged
PULL = 0.003  # strength of the norm where the step is found for each image; else it is the rate itself


@attacks.register("alma-prox-auto")
@settings
class ALMAProx:
    """Every pixel a constraint with its own multiplier (Rony, Pesquet, Ben Ayed 2023, arXiv:2206.07179).

    Ours are the length of the steps, found for each image in a ball that follows success, and the exact derivatives."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.02
    steps: Count = 500
    rate: Radius | None = None  # first length of a step; none = found for each image, in a ball; paper: 0.001
    fade: Annotated[float, Field(gt=0, lt=1)] = 0.1  # share of the rate that is left at the last step
    memory: Annotated[float, Field(ge=0, lt=1)] = 0.8  # of the multipliers and of the squared gradient
    unit: Literal["constant", "differentiated"] = "constant"  # of the constraints; released: differentiated
    penalty: Literal["exact", "released"] = "exact"  # derivative of the penalty; released = as published, with its slip
    masking: Masking = "decaying"  # constraints left out: none, the hardest from the first step on, or more and more
    prox_passes: Count = 8  # of the search for the prox's radius; 24 = as exact as released
    tolerance: Annotated[float, Field(ge=0)] = 0.0  # in logits, by which a pixel must be lost; released: 1e-4
    keep: Keep = "best"  # iterate to return; released: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Step along the gradient in the metric of its running square, then take the norm's proximal step."""
        allowed, delta = problem.feasible, problem.start(False)
        prices, ball, square = _Prices(self, problem), pace(allowed, self.steps, self.rate), torch.zeros_like(delta)
        for step in range(self.steps):
            look = problem.look(delta, prices.at(step), step / self.steps)
            size = allowed.size(delta)
            ball.update(look.success, size)
            fade = self.fade / (self.fade + (1 - self.fade) * ball.elapsed(step))
            rate, pull = fade * ball.rate, fade * (PULL if self.rate is None else self.rate)
            square.mul_(self.memory).addcmul_(look.gradient, look.gradient, value=1 - self.memory)
            metric = (square / (1 - self.memory ** (step + 1))).sqrt_().clamp_(min=1e-8)
            moved = delta + per_image(rate) * look.gradient / metric
            delta = ball.hold(prox(allowed, moved, metric, pull, near=size, passes=self.prox_passes))
        return delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps


class _Prices:
    """Multipliers and penalties of every pixel, and the scale of each image's constraints."""

    def __init__(self, attack: ALMAProx, problem: Problem) -> None:
        self.attack, self.enough, self.step = attack, problem.threat.enough, 0
        self.multiplier = torch.ones_like(problem.balance)
        self.strength = torch.full_like(problem.balance, 0.01)
        self.scale = torch.ones_like(problem.balance[:, :1, :1])
        self.before = torch.zeros_like(problem.balance)  # constraints at the last check
        self.won = torch.zeros_like(problem.aim)  # pixels won at any time since then

    def at(self, step: int) -> _Prices:
        """Return itself, ready for one step."""
        self.step = step
        return self

    def __call__(self, view: View) -> Pixels:
        """Return the loss whose gradient is that of the penalty: the constraint times its price."""
        attack, aim = self.attack, view.aim
        remaining = view.remaining.flatten(1).sum(1).double()
        success = suffices(remaining, aim.flatten(1).sum(1), self.enough)[:, None, None]
        self.scale = torch.where(success, self.scale / 1.02, self.scale / 0.98).clamp(0.1, 1)
        self.won |= ~view.remaining
        differentiated = attack.unit == "differentiated"
        constraint = self.scale * logit_ratio(view, differentiated=differentiated, tolerance=attack.tolerance)
        now = constraint.detach()
        counted = spare(now, aim, attack.masking, self.enough, self.step / max(attack.steps - 1, 1))
        if self.step == 0:
            self.before = now
        if (self.step + 1) % CHECK == 0:
            better = torch.where(counted, now, 0) <= 0.95 * self.before
            self.strength = torch.where(self.won | better, self.strength, 2 * self.strength)
            self.before, self.won = now, torch.zeros_like(self.won)
        if self.step > 0:
            self.multiplier = self.multiplier.lerp(self._slope(now, counted), 1 - attack.memory).clamp_(1e-12, 1)
        return -self._slope(now, counted) * constraint

    def _slope(self, constraint: Pixels, counted: Tensor) -> Pixels:
        released = self.attack.penalty == "released"
        return torch.where(counted, penalty_slope(constraint, self.strength, self.multiplier, released=released), 0)
