"""An adversarial patch: a picture that harms wherever it hangs in the region, and in any light."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings, stream
from ...core.quantities import Count, CountOrNone, PixelsOrNone
from ..algorithm import Seeks, attacks
from ..losses import LossName
from ..search.adam import Moments
from ..search.problem import Problem

Deltas = Float[Tensor, "b c h w"]
Move = tuple[int, int]  # pixels down and to the right


@attacks.register("patch")
@settings
class Patch:
    """Adam on the pixels of a patch, over changes of light and place (arXiv:2108.06179, EOT of arXiv:1707.07397).

    Give it a region and eps=1: then any picture is allowed there. With views add keep=last, since the best look of all
    was at a lucky view and not at the patch itself.
    """

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = 1.5
    loss: LossName = "ce"
    steps: Count = 100
    rate: Annotated[float, Field(gt=0)] = 0.05  # length of a step, as a share of the radius
    views: CountOrNone = 0  # changed views of the patch averaged at each step; 0 = the patch as it is
    light: Annotated[float, Field(ge=0)] = 0.1  # deviation of brightness and of contrast in a view
    grain: Annotated[float, Field(ge=0)] = 0.1  # deviation of the noise in a view
    shift: PixelsOrNone = 0  # pixels by which a view may hang off its place, cut at the region's edge

    def run(self, problem: Problem) -> Deltas:
        """Climb by running means of the gradient and of its square."""
        allowed, radius, delta = problem.feasible, problem.threat.radius, problem.start(True)
        moments = Moments(delta, floor=1e-12)
        streams = [stream(problem.seed, id_, "views") for id_ in problem.batch.ids]
        for step in range(self.steps):
            if problem.finished:
                break
            moments.update(self._gradient(problem, delta, step / self.steps, streams))
            delta = allowed.project(delta + moments.climb(self.rate * radius), radius)
        return delta

    def _gradient(self, problem: Problem, delta: Deltas, progress: float, streams: list[torch.Generator]) -> Deltas:
        """Average over views; each is contrast x shifted patch + brightness + noise, and the slope goes back so."""
        if not self.views:
            return problem.look(delta, self.loss, progress).gradient
        total = torch.zeros_like(delta)
        for _ in range(self.views):
            drawn = torch.stack([torch.randn(2, generator=one) for one in streams]).to(delta)[:, :, None, None, None]
            noise = torch.stack([torch.randn(delta.shape[1:], generator=one) for one in streams]).to(delta)
            contrast, brightness = 1 + self.light * drawn[:, 0], self.light * drawn[:, 1]
            moves = [self._move(one) for one in streams]
            patch = _rolled(problem.batch.images + delta, moves)
            view = contrast * patch + brightness + self.grain * noise
            slope = contrast * problem.look(view - problem.batch.images, self.loss, progress).gradient
            total += _rolled(slope, [(-down, -right) for down, right in moves])
        return total / self.views

    def _move(self, generator: torch.Generator) -> Move:
        if not self.shift:
            return 0, 0
        down, right = torch.randint(-self.shift, self.shift + 1, (2,), generator=generator).tolist()
        return down, right

    def passes(self) -> tuple[int, int]:
        """Count one pass a view."""
        looks = self.steps * max(1, self.views)
        return looks, looks


def _rolled(images: Deltas, moves: list[Move]) -> Deltas:
    """Move each image by itself."""
    if not any(map(any, moves)):
        return images
    return torch.stack([image.roll(move, (-2, -1)) for image, move in zip(images, moves, strict=True)])
