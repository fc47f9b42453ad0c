"""Adaptive segmentation mask attack: longer steps the nearer the prediction comes to what is wanted."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ...core import settings
from ...core.quantities import Count
from ...metrics.counts import count
from ...metrics.scores import image_miou
from ..algorithm import Keep, Seeks, attacks
from ..losses import Pixels, View
from ..minimal.step_length import StepLength
from ..search.feasible import PerImage, per_image
from ..search.look import Look
from ..search.problem import Problem


@attacks.register("asma-auto")
@settings
class ASMA:
    """Raise the wanted logits that do not win yet; the l2 norm pulls back (Ozbulak et al. 2019, arXiv:1907.13124).

    Ours are the gradient's length, found for each image, and a factor that grows with the share of won pixels."""

    seeks: ClassVar[Seeks] = "smallness"
    reaches: ClassVar[float | None] = None  # made for l2, and it never shrinks what succeeded
    steps: Count = 500
    base: Annotated[float, Field(gt=0)] = 0.05  # factor of a step; paper: 1e-7
    gain: Annotated[float, Field(ge=0)] = 0.1  # what full success adds to it; paper: 1e-6
    success: Literal["damage", "iou"] = "damage"  # what tells it: won pixels, or, as published, the IoU with the mask
    gradient: Literal["scaled", "raw"] = "scaled"  # raw = as published, its scale that of the model's logits
    keep: Keep = "best"  # iterate to return; released: smallest

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Take gradient steps whose factor grows with success."""
        allowed, delta = problem.feasible, problem.start(False)
        loss, step_length = _Wanted(), StepLength(allowed, self.steps)
        for step in range(self.steps):
            look = problem.look(delta, loss, step / self.steps)
            step_length.update(look.success, allowed.size(delta))
            climb = look.gradient
            if self.gradient == "scaled":
                climb = per_image(3 * step_length.length) * allowed.along(climb)  # outweighs the norm's pull
            factor = self.base + self.gain * self._success(look, loss, step)
            delta = allowed.project(delta + per_image(factor) * (climb - 2 * delta), problem.reach)
        return delta

    def _success(self, look: Look, loss: _Wanted, step: int) -> PerImage:
        if self.success == "damage":
            return look.damage
        return loss.iou if step else torch.zeros_like(loss.iou)  # none is known before the first step

    def passes(self) -> tuple[int, int]:
        """Count one pass a step."""
        return self.steps, self.steps


class _Wanted:
    """The summed logits of the wanted class where another wins; remembers the IoU with what is wanted."""

    iou: PerImage

    def __call__(self, view: View) -> Pixels:
        counts = count(view.prediction, view.labels, view.aim, view.logits.shape[1])
        self.iou = image_miou(counts).to(view.logits)
        (label,) = view.of(view.labels)
        return view.remaining * label * (1 if view.targeted else -1)
