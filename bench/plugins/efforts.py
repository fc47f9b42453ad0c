"""What else might lower a battery's figures: climbs from its best images, on all pixels or on those that stand."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from segstress.attacks import View, attacks, losses
from segstress.attacks.algorithm import Seeks
from segstress.attacks.algorithms.momentum import Momentum
from segstress.attacks.algorithms.transfer import Transfer
from segstress.attacks.losses import LossName, Pixels
from segstress.attacks.losses.annealed import LAST, expected_error, soft_miou
from segstress.attacks.search.problem import Problem
from segstress.core import settings

SHARP = 30.0  # first sharpness of a climb that begins with the best there is


@losses.register("sharp-error")
def sharp_error(view: View) -> Pixels:
    """The annealed error from where it is sharp already."""
    return expected_error(view, SHARP, LAST)


@losses.register("sharp-iou")
def sharp_iou(view: View) -> Float[Tensor, " b"]:
    """The annealed mIoU from where it is sharp already."""
    return -soft_miou(view, SHARP, LAST)


@losses.register("remaining-error")
def standing_error(view: View) -> Pixels:
    """The annealed error of the pixels that stood when the climb began, and of no other."""
    return ~view.past.first * expected_error(view, SHARP, LAST)


@attacks.register("warm")
@settings
class Warm:
    """Climbs one after the other, each from the best image so far, the first from those of a run."""

    positional: ClassVar = "source"
    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = None  # as strong as the images it begins with
    source: Path  # folder of a run
    climbs: tuple[LossName, ...] = ("sharp-error", "sharp-iou")
    steps: int = 150
    longest: float = 0.5  # first step, in radii

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Look at the stored images, then climb."""
        delta = Transfer(source=self.source).run(problem)
        for loss in self.climbs:
            delta = problem.best()["miou" if "iou" in loss else "accuracy"]
            delta = Momentum(loss=loss, steps=self.steps, longest=self.longest).climb(problem, delta)
            problem.peek(delta)
        return delta

    def passes(self) -> tuple[int, int]:
        """The looks at stored images, and those of every climb."""
        steps = len(self.climbs) * self.steps
        return Transfer(source=self.source).passes()[0] + steps + len(self.climbs), steps
