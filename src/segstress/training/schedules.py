"""How the learning rate changes: pure functions of the share of training done, so resuming needs no memory of it."""

from __future__ import annotations

import math
from typing import Annotated, Protocol, runtime_checkable

from pydantic import Field

from ..core import Registry, settings

Share = Annotated[float, Field(ge=0, lt=1)]
FIRST = 0.04  # factor at the very first step of a warm-up


@runtime_checkable
class Schedule(Protocol):
    """A rule for the learning rate."""

    def factor(self, progress: float) -> float:
        """Return what the rate is multiplied by when this share of all steps is done."""
        ...


schedules: Registry[Schedule] = Registry("schedule")


@schedules.register("poly")
@settings
class Poly:
    """Falls as a power of the share left, as semantic segmentation has it since DeepLab (arXiv:1606.00915)."""

    power: Annotated[float, Field(gt=0)] = 0.9
    warm_up: Share = 0.0  # share of all steps in which the rate rises linearly
    first: Share = FIRST  # factor with which a warm-up begins

    def factor(self, progress: float) -> float:
        """Rise linearly, then fall to zero."""
        if progress < self.warm_up:
            return self.first + (1 - self.first) * progress / self.warm_up
        return math.pow((1 - progress) / (1 - self.warm_up), self.power)


schedules.preset("linear", Poly, "Linear warm-up, then linearly to zero", power=1.0, warm_up=0.1)
schedules.preset(
    "pir-at",
    Poly,
    "Linear warm-up over a fifth of the steps, then linearly to zero (released settings of arXiv:2306.12941)",
    power=1.0,
    warm_up=0.2,
    first=1e-5,
)


@schedules.register("one-cycle")
@settings
class OneCycle:
    """Half a cosine up, half a cosine down to zero (Smith and Topin 2018, arXiv:1708.07120)."""

    warm_up: Share = 0.1  # share of all steps in which the rate rises

    def factor(self, progress: float) -> float:
        """Smooth at both ends."""
        if progress < self.warm_up:
            return 1 - (1 - FIRST) * (1 + math.cos(math.pi * progress / self.warm_up)) / 2
        return (1 + math.cos(math.pi * (progress - self.warm_up) / (1 - self.warm_up))) / 2
