"""What an attack may do, what comes out of a perturbation, and the verb that joins them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int64
from pydantic import model_validator
from torch import Tensor, nn

from .batch import Batch
from .configuration import Radius, format_radius, settings, to_plain
from .errors import BadInput
from .regions.region import Region
from .registry import Registry
from .targets import TargetSetting

Norm = Literal["linf", "l2", "l1", "l0"]  # l0 counts the pixels of which any channel has changed
Stage = Literal["native", "network"]
BALLS: tuple[Norm, ...] = ("linf", "l2")  # in which every attack works and can stay inside a radius
LONGEST = 1_000_000  # radius in any norm; the l2 distance of black and white at the most pixels is 12,247


@settings
class Threat:
    """What an attack may do and what counts as success."""

    norm: Norm = "linf"
    radius: Radius = math.inf  # in [0, 1] units, "8/255"; infinite = as small as possible
    enough: float = 0.99  # share of wrong pixels that is success
    target: TargetSetting = None  # what is wanted instead: a class id, a map ...; none = any wrong class
    reference: Literal["truth", "prediction"] = "truth"  # what a won pixel differs from: its label, or the clean answer

    @model_validator(mode="after")
    def _check(self) -> Threat:
        if self.norm == "linf" and 1 < self.radius < math.inf:
            raise BadInput(
                f'eps={self.radius:g} is outside [0, 1]: images are in [0, 1], so write eps="{self.radius:g}/255"'
            )
        if LONGEST < self.radius < math.inf:
            raise BadInput(f"eps={self.radius:g}: no two images are so far apart; expected at most {LONGEST:,}")
        if self.norm not in BALLS and math.isfinite(self.radius):
            raise BadInput(f"norm {self.norm}: expected a search for the smallest delta, found a radius; leave eps out")
        if not 0 < self.enough <= 1:
            raise BadInput(f"enough: expected a share in (0, 1], found {self.enough}")
        return self

    def __str__(self) -> str:
        size = "smallest" if math.isinf(self.radius) else format_radius(self.radius)
        return f"{self.norm} {size}{self._wanted}"

    @property
    def aside(self) -> str:
        """All but the radius, where it is not as usual."""
        return ("" if self.norm == "linf" else f" {self.norm}") + self._wanted

    @property
    def _wanted(self) -> str:
        target = "" if self.target is None else f" to {self.target.label}"
        return target + ("" if self.reference == "truth" else " from the clean prediction")


@dataclass(frozen=True)
class Result:
    """The images that serve one goal best."""

    goal: str  # the figure they are best for: accuracy, miou; `any` when there is only one
    images: Float[Tensor, "b c h w"]
    size: Float[Tensor, " b"]  # in the perturbation's own norm
    prediction: Int64[Tensor, "b h w"] | None = None  # only where it is not simply the model's on `images`
    raw_size: Float[Tensor, " b"] | None = None  # before polishing, where that was done


@dataclass(frozen=True)
class Perturbed:
    """What a perturbation made of a batch, and what it cost."""

    results: tuple[Result, ...]
    forwards: Int64[Tensor, " b"]
    backwards: Int64[Tensor, " b"]
    zones: Mapping[str, Bool[Tensor, "b h w"]] = field(default_factory=dict)  # such as inside, outside, aim
    traces: tuple[Mapping[int, int], ...] = ()  # for each image forwards -> fewest pixels right so far; none = not kept


@dataclass(frozen=True)
class CurvePoint:
    """Where damage to part of an image lies on its curves: what it is, how strong and how long."""

    what: str  # without strength, steps and region: what one curve joins
    severity: float  # of a corruption; of attacks their radius
    steps: int = 0  # of an attack; 0 for all else
    number: int = 0  # of attacks, each on what the others left; 0 where it is none of several


@runtime_checkable
class Perturbation(Protocol):
    """Everything we do to an image, and all that others may ask about it."""

    @property
    def name(self) -> str:
        """What it does, within a study whose threat need not be repeated."""
        ...

    @property
    def label(self) -> str:
        """Its name in tables, derived from its settings."""
        ...

    @property
    def about(self) -> str:
        """Its settings in one line, for the reader."""
        ...

    @property
    def threat(self) -> Threat | None:
        """What it may do; none where it searches nothing."""
        ...

    @property
    def region(self) -> Region | None:
        """Where it acts; none = everywhere."""
        ...

    @property
    def stage(self) -> Stage:
        """Whether it acts before or after images are brought to the model's size."""
        ...

    @property
    def parts(self) -> str:
        """The parts of an image that it takes one by one: objects or pixels; empty where it takes the whole."""
        ...

    @property
    def curve_point(self) -> CurvePoint | None:
        """Where it lies on the curves of localized damage; none where it is not about part of an image."""
        ...

    @property
    def channels(self) -> int | None:
        """How many channels an image must have; none = any number."""
        ...

    def passes(self) -> tuple[int, int]:
        """Count the most forwards and backwards that one image costs, or one part of it."""
        ...

    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """Return perturbed versions of the batch."""
        ...


def describe(settings: object) -> str:
    """Write settings in one line, for the reader."""
    return ", ".join(f"{key} {value}" for key, value in to_plain(settings).items() if value is not None)


perturbations: Registry[Perturbation] = Registry("perturbation")
