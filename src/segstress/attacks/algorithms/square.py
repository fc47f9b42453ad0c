"""Random squares: an attack that needs no gradient."""

from __future__ import annotations

from typing import Annotated, ClassVar

import torch
from jaxtyping import Bool, Float
from pydantic import Field
from torch import Tensor

from ...core import settings, uniform
from ...core.quantities import Count
from ..algorithm import Seeks, attacks
from ..search.problem import Problem
from ..search.tracker import choose

HALVINGS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)  # shares of the queries after which squares get smaller


@attacks.register("square")
@settings
class Square:
    """Squares of random colour, kept where they win pixels (Andriushchenko et al. 2020, arXiv:1912.00049)."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = None  # needs many queries for each pixel
    steps: Count = 1000  # queries
    area: Annotated[float, Field(gt=0, le=1)] = 0.8  # of the first squares, as a share of the image

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Search from vertical stripes; ties in pixels are decided by the margin of those that remain."""
        images, ids, radius = problem.batch.images, problem.batch.ids, problem.threat.radius
        signs = uniform(images[:, :, :1], ids, problem.seed, "square-0").sign().expand_as(images)
        best = problem.peek(radius * signs, "masked-margin")
        damage, margin = best.damage, best.loss
        for step in range(1, self.steps):
            if problem.finished:
                break
            colours = uniform(images[:, :, :1, :1], ids, problem.seed, f"square-{step}").sign()
            painted = torch.where(self._window(problem, step), colours, signs)
            look = problem.peek(radius * painted, "masked-margin")
            better = (look.damage > damage) | ((look.damage == damage) & (look.loss > margin))
            signs, damage = choose(better, painted, signs), look.damage.maximum(damage)
            margin = torch.where(better, look.loss, margin)
        return radius * signs

    def _window(self, problem: Problem, step: int) -> Bool[Tensor, "b 1 h w"]:
        """Draw a square somewhere in each image."""
        images = problem.batch.images
        height, width = images.shape[-2:]
        area = self.area / 2 ** sum(step > share * self.steps for share in HALVINGS)
        side = min(max(round((area * height * width) ** 0.5), 1), height, width)
        draws = uniform(images.new_empty(len(images), 2), problem.batch.ids, problem.seed, f"square-place-{step}")
        room = draws.new_tensor([height - side + 1, width - side + 1])
        top, left = ((draws + 1) / 2 * room).long().split(1, dim=1)
        rows, columns = (torch.arange(length, device=images.device) for length in (height, width))
        inside = (rows >= top) & (rows < top + side), (columns >= left) & (columns < left + side)
        return inside[0][:, None, :, None] & inside[1][:, None, None, :]

    def passes(self) -> tuple[int, int]:
        """Count the queries."""
        return self.steps, 0
