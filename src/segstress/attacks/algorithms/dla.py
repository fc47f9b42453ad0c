"""Stripes refined by flips: an attack that sees labels only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ...core import settings, uniform
from ...core.quantities import Count
from ..algorithm import Seeks, attacks
from ..search.feasible import per_image
from ..search.problem import Problem
from ..search.tracker import choose


@attacks.register("dla")
@settings
class DLA:
    """Random stripes, then flips of ever finer blocks of the best (Chen et al. 2024, arXiv:2402.01220)."""

    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = None  # stripes cannot follow every pixel's own direction
    steps: Count = 200  # queries: a fifth for stripes, the rest for flips

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Keep what lowers the image's mIoU."""
        images, explored = problem.batch.images, max(self.steps // 5, 1)
        signs, best = torch.ones_like(images), images.new_full((len(images),), torch.inf)
        in_rows = torch.ones_like(best, dtype=torch.bool)
        for step in range(explored):
            line = images[:, :1, :, :1] if step % 2 == 0 else images[:, :1, :1]
            stripes = uniform(line, problem.batch.ids, problem.seed, f"dla-{step}").sign().expand_as(images)
            score = self._score(problem, stripes)
            better, best = score <= best, score.minimum(best)
            signs, in_rows = choose(better, stripes, signs), torch.where(better, step % 2 == 0, in_rows)
        for rows, columns in islice(_blocks(images), self.steps - explored):
            flips = torch.where(per_image(in_rows), rows, columns)
            flipped = torch.where(flips, -signs, signs)
            score = self._score(problem, flipped)
            signs, best = choose(score < best, flipped, signs), score.minimum(best)
        return problem.threat.radius * signs

    def _score(self, problem: Problem, signs: Float[Tensor, "b c h w"]) -> Float[Tensor, " b"]:
        """Score images, the less the better; of a targeted attack the mIoU against its goal should rise."""
        miou = problem.peek(problem.threat.radius * signs).miou
        return -miou if problem.targeted else miou

    def passes(self) -> tuple[int, int]:
        """Count the queries."""
        return self.steps, 0


def _blocks(images: Float[Tensor, "b c h w"]) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield masks along the stripes of the whole image, halves, quarters and so on; then across them, then again."""
    height, width = images.shape[-2:]
    down = torch.arange(height, device=images.device)[:, None] / height
    across = torch.arange(width, device=images.device) / width
    for rows, columns in cycle([(down, across), (across, down)]):
        for level in range(min(height, width).bit_length()):
            for part in range(2**level):
                yield (rows * 2**level).long() == part, (columns * 2**level).long() == part
