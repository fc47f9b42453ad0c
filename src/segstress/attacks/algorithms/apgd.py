"""Auto-PGD: projected gradient descent that finds its own step, with a radius that may shrink on the way."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from ...core import settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..losses import LossName
from ..search.problem import Problem
from ..search.tracker import choose

Deltas = Float[Tensor, "b c h w"]
EARLY = ((2.0, 0.3), (1.5, 0.3))  # multiples of the radius before it is one, and their share of the steps


@attacks.register("apgd")
@settings
class APGD:
    """Momentum, steps halved where an image stalls, the highest loss (Croce & Hein 2020, arXiv:2003.01690).

    The radius that shrinks, and what is kept with it, are of arXiv:2306.12941."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "ce"  # gives the gradient
    track: LossName = "ce"  # tells progress; masked losses fall as pixels are won, so they cannot
    steps: Count = 100
    progressive: bool = False  # first twice and 1.5 times the radius, for 30 % of the steps each
    random_start: bool = True
    first: Literal["start", "zero", "skip"] = (
        "start"  # what a stage's first loss is held against; SEA: zero; skip = none
    )
    ties: Literal["earlier", "later"] = "earlier"  # which of equally harmful iterates is kept; SEA: later
    carry: Literal["damage", "track"] = "track"  # what the iterate that a stage ends with has most of; SEA: damage
    balance: Literal["image", "split"] = "image"  # whose pixels weigh classes in balanced losses; split: give weights
    keep: Keep = "last"  # iterate to return; last = as `carry` says; SEA: accuracy

    def run(self, problem: Problem) -> Deltas:
        """Run one stage for each radius, from the most harmful delta of the stage before."""
        limit, stages = problem.threat.radius, self.stages()
        delta = problem.start(self.random_start, radius=stages[0][0] * limit)
        for multiple, steps in stages:
            carry = self.carry if multiple > 1 or problem.keep == "last" else "damage"
            start = problem.feasible.project(delta, multiple * limit)
            delta = self._climb(problem, start, multiple * limit, steps, carry)
        return delta

    def stages(self) -> list[tuple[float, int]]:
        """List multiples of the radius and their numbers of steps."""
        if not self.progressive:
            return [(1.0, self.steps)]
        early = [(multiple, int(share * self.steps)) for multiple, share in EARLY]
        stages = [*early, (1.0, self.steps - sum(steps for _, steps in early))]
        return [(multiple, steps) for multiple, steps in stages if steps > 0]

    def _climb(self, problem: Problem, delta: Deltas, radius: float, steps: int, carry: str) -> Deltas:
        """Run the paper's algorithm at one radius; return the delta that won most pixels, or of the highest loss."""
        allowed, before = problem.feasible, delta
        look = problem.look(delta, self.loss, radius=radius, track=self.track)
        gradient, harmful, damage = look.gradient, delta, look.damage
        peak, peak_delta, peak_gradient, last_peak = look.track, delta, gradient, look.track
        track = torch.zeros_like(peak) if self.first == "zero" else peak
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
            more = look.damage >= damage if self.ties == "later" else look.damage > damage
            harmful, damage = choose(more & ~resting, delta, harmful), look.damage.maximum(damage)
            higher, rises, track = look.track > peak, rises + (look.track > track), look.track
            peak, peak_delta = look.track.maximum(peak), choose(higher & ~resting, delta, peak_delta)
            if step == steps:
                break
            gradient = look.gradient
            peak_gradient = choose(higher, gradient, peak_gradient)
            if step in checks:
                skipped = self.first == "skip" and step == min(checks)
                stalled = rises <= (-1 if skipped else 0.75 * checks[step])
                halved = stalled | (~halved & (peak <= last_peak))
                length = choose(halved, length / 2, length)
                delta, gradient = choose(halved, peak_delta, delta), choose(halved, peak_gradient, gradient)
                rises, last_peak = torch.zeros_like(rises), peak
        return harmful if carry == "damage" else peak_delta

    def passes(self) -> tuple[int, int]:
        """Count one pass a step and one at every start."""
        return self.steps + len(self.stages()), self.steps


def checkpoints(steps: int) -> dict[int, int]:
    """Give the steps after which progress is checked, and the number since the last, by the released integer rule."""
    window, step, checks = max(22 * steps // 100, 1), 0, {}
    while step + window <= steps:
        step += window
        checks[step] = window
        window = max(window - max(3 * steps // 100, 1), 6 * steps // 100, 1)
    return checks
