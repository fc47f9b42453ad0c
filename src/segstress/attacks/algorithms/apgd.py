"""Auto-PGD: projected gradient descent that finds its own step, with a radius that may shrink on the way."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ..algorithm import Seeks, attacks
from ..losses import LossName
from ..search.problem import Problem
from ..search.tracker import choose

Deltas = Float[Tensor, "b c h w"]
EARLY = ((2.0, 0.3), (1.5, 0.3))  # multiples of the radius before it is one, and their share of the steps


@attacks.register("apgd")
@settings
class APGD:
    """Momentum, and a step halved where an image stalls (Croce & Hein 2020, arXiv:2003.01690, arXiv:2306.12941)."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "ce"  # gives the gradient
    track: LossName = "ce"  # tells progress; masked losses fall as pixels are won, so they cannot
    steps: Annotated[int, Field(ge=1)] = 100
    progressive: bool = False  # first twice and 1.5 times the radius, for 30 % of the steps each
    random_start: bool = True
    variant: Literal["ours", "paper"] = "ours"  # paper = the first comparison of a stage is against zero

    def run(self, problem: Problem) -> Deltas:
        """One stage for each radius, from the most harmful delta of the stage before."""
        limit, stages = problem.threat.radius, self.stages()
        delta = problem.start(self.random_start, radius=stages[0][0] * limit)
        for multiple, steps in stages:
            delta = self._climb(problem, problem.feasible.project(delta, multiple * limit), multiple * limit, steps)
        return delta

    def stages(self) -> list[tuple[float, int]]:
        """Multiples of the radius and their numbers of steps."""
        if not self.progressive:
            return [(1.0, self.steps)]
        early = [(multiple, int(share * self.steps)) for multiple, share in EARLY]
        stages = [*early, (1.0, self.steps - sum(steps for _, steps in early))]
        return [(multiple, steps) for multiple, steps in stages if steps > 0]

    def _climb(self, problem: Problem, delta: Deltas, radius: float, steps: int) -> Deltas:
        """The paper's algorithm at one radius; gives the delta that won most pixels."""
        allowed, before = problem.feasible, delta
        look = problem.look(delta, self.loss, radius=radius, track=self.track)
        gradient, harmful, damage = look.gradient, delta, look.damage
        peak, peak_delta, peak_gradient, last_peak = look.track, delta, gradient, look.track
        track = torch.zeros_like(peak) if self.variant == "paper" else peak
        length = torch.full_like(delta[:, :1, :1, :1], 2 * radius)
        rises, halved, checks = torch.zeros_like(peak), torch.ones_like(peak).bool(), checkpoints(steps)
        for step in range(1, steps + 1):
            resting = damage == 1
            if problem.finished or resting.all():
                break
            share = 1.0 if step == 1 else 0.75
            climbed = allowed.project(delta + length * allowed.steepest(gradient), radius)
            moved = allowed.project(delta + share * (climbed - delta) + (1 - share) * (delta - before), radius)
            delta, before = moved, delta
            look = problem.look(
                delta, self.loss, step / steps, radius=radius, track=self.track, resting=resting, slope=step < steps
            )
            harmful, damage = choose(look.damage > damage, delta, harmful), look.damage.maximum(damage)
            if step == steps:
                break
            higher, rises, track, gradient = look.track > peak, rises + (look.track > track), look.track, look.gradient
            peak, peak_delta = look.track.maximum(peak), choose(higher, delta, peak_delta)
            peak_gradient = choose(higher, gradient, peak_gradient)
            if step in checks:
                halved = (rises <= 0.75 * checks[step]) | (~halved & (peak <= last_peak))
                length = choose(halved, length / 2, length)
                delta, gradient = choose(halved, peak_delta, delta), choose(halved, peak_gradient, gradient)
                rises, last_peak = torch.zeros_like(rises), peak
        return harmful

    def passes(self) -> tuple[int, int]:
        """One pass a step and one at every start, and a look at the clean image and at the last iterate."""
        return self.steps + len(self.stages()) + 2, self.steps


def checkpoints(steps: int) -> dict[int, int]:
    """Steps after which progress is judged, with the number since the last: the published code's integer rule."""
    window, step, checks = max(22 * steps // 100, 1), 0, {}
    while step + window <= steps:
        step += window
        checks[step] = window
        window = max(window - max(3 * steps // 100, 1), 6 * steps // 100, 1)
    return checks
