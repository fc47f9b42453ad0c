"""Attacks for one radius, asked again and again for a smaller one: the baselines of minimal attacks."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ...core.quantities import Count
from ..algorithm import Keep, Seeks, attacks
from ..losses import LossName
from ..search.feasible import PerImage, per_image
from ..search.look import Look
from ..search.problem import Problem

LEAST = 1 / 16 / 255  # radius of every pixel at the lower end of the bracket
CLOSE = 1.01  # ratio of the bracket's ends at which an image is found


@attacks.register("pgd-ce-search")
@settings
class Search:
    """Bisect the radius of a sign-gradient attack (protocol of Rony et al. 2023, arXiv:2206.07179, 13 rounds).

    Ours are geometric midpoints, because answers differ by orders of magnitude, and rounds that begin where the one
    before ended."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = 1.3
    loss: LossName = "ce"
    rounds: Count = 13
    steps: Count = 40  # of each start of each round
    starts: Count = 1  # the first from zero, or from the round before; the others at random
    step: Annotated[float, Field(gt=0)] = 0.1 / 3  # length of a step, in radii
    momentum: Annotated[float, Field(ge=0)] = 0.0
    bracket: Literal["geometric", "arithmetic"] = "geometric"  # arithmetic = as published: midpoints from [0, 2]
    warm: bool = True  # whether a round begins where the one before ended; as published from zero, its last step unseen
    answer: Literal["smallest", "round"] = "smallest"  # of all looks, or as released the last round's that did enough
    failed: Literal["best", "clean"] = "best"  # what an image gets where no round does enough; released: clean
    keep: Keep = "best"  # iterate to return; released: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Halve the bracket; where ours is narrow enough, an image rests."""
        allowed, delta, geometric = problem.feasible, problem.start(False), self.bracket == "geometric"
        whole = allowed.size(torch.ones_like(delta))
        low, high = (LEAST * whole, whole) if geometric else (0 * whole, 2 * whole)
        answer, answered = delta, torch.zeros_like(whole, dtype=torch.bool)
        for _ in range(self.rounds):
            resting = (high <= CLOSE * low) & geometric
            middle = (low * high).sqrt() if geometric else (low + high) / 2
            most = _Most(delta)
            for start in range(self.starts):
                first = self._start(problem, delta, start, middle)
                delta = self._climb(problem, first, middle, resting, most)
            answer, answered = torch.where(per_image(most.success), most.delta, answer), answered | most.success
            smallest = problem.smallest_size().to(high).minimum(middle) if geometric else middle
            success = problem.smallest_size() <= middle if geometric else most.success
            low = torch.where(resting | success, low, middle)
            high = torch.where(resting | ~success, high, smallest)
        if self.answer == "round":
            problem.settle(answer, answered)
        if self.failed == "clean":
            problem.forget_failures()
        return delta

    def _start(self, problem: Problem, before: Tensor, start: int, radius: PerImage) -> Tensor:
        if start > 0:
            return problem.start(True, f"start-{start}", radius=radius)
        return problem.feasible.project(before if self.warm else torch.zeros_like(before), radius)

    def _climb(self, problem: Problem, delta: Tensor, radius: PerImage, resting: Tensor, most: _Most) -> Tensor:
        """Take sign steps at one radius, and return the last delta."""
        allowed, trend = problem.feasible, torch.zeros_like(delta)
        for step in range(self.steps):
            look = problem.look(delta, self.loss, step / self.steps, radius=radius, resting=resting)
            most.show(delta, look, ~resting)
            length = look.gradient.abs().sum((1, 2, 3), keepdim=True).clamp(min=torch.finfo(delta.dtype).tiny)
            trend = self.momentum * trend + look.gradient / length
            delta = allowed.project(delta + per_image(self.step * radius) * allowed.steepest(trend), radius)
        if self.warm:
            problem.peek(delta, radius=radius, resting=resting)
        return delta

    def passes(self) -> tuple[int, int]:
        """Count every step of every start of every round, and the last iterates."""
        starts = self.rounds * self.starts
        return starts * (self.steps + self.warm), starts * self.steps


class _Most:
    """Of one round, each image's iterate with the most pixels won, the newest of equals."""

    def __init__(self, delta: Tensor) -> None:
        self.delta, self.remaining = delta, delta.new_full((len(delta),), torch.inf)
        self.success = torch.zeros(len(delta), dtype=torch.bool, device=delta.device)

    def show(self, delta: Tensor, look: Look, active: Tensor) -> None:
        """Offer one iterate."""
        remaining = look.effect().remaining.to(self.remaining)
        better = active & (remaining <= self.remaining)
        self.delta = torch.where(per_image(better), delta, self.delta)
        self.remaining = torch.where(better, remaining, self.remaining)
        self.success = self.success | (active & look.success)


attacks.preset(
    "pgd-dlr-search", Search, "Bisect the radius of PGD on the logit ratio (protocol of arXiv:2206.07179)", loss="dlr"
)
attacks.preset(
    "ifgsm-search", Search, "Bisect the radius of I-FGSM (arXiv:1607.02533, 13 x 20 steps)", steps=20, step=0.05
)
attacks.preset(
    "mifgsm-search",
    Search,
    "Bisect the radius of MI-FGSM (arXiv:1710.06081, 13 x 20 steps)",
    steps=20,
    step=0.05,
    momentum=1.0,
)
