"""Several attacks on one region, each on what the others left."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeGuard

import torch
from jaxtyping import Bool, Float, Int64
from pydantic import Field, model_validator
from torch import Tensor, nn

from ..core import (
    BadInput,
    Batch,
    CurvePoint,
    Perturbation,
    Perturbed,
    Region,
    Result,
    Stage,
    Threat,
    describe,
    distance_zones,
    perturbations,
    regions,
    seed_of,
    settings,
)
from ..core.quantities import Count, Pixels
from ..metrics.counts import predict
from .algorithm import Algorithm, attacks, name_without_steps, steps_of
from .losses import View
from .search.problem import Problem

NOTHING = -1  # no class: a pixel that nothing has fooled yet
Mask = Bool[Tensor, "b h w"]
Labels = Int64[Tensor, "b h w"]


@perturbations.register("multi-attack")
@settings
class MultiAttack:
    """Attacks one after the other, each on the pixels still right; the first success stays (arXiv:2504.01632, alg. 1).

    Goal `attack-2` is the second attack by itself. Goal `cumulative-2` shows each pixel as the first of two attacks
    that fooled it, else as in the clean prediction: a worst case pixel by pixel, which no single image attains.
    Towards a target (ours) a pixel is fooled once it shows the class that is wanted of it.
    """

    threat: Threat = Threat(radius=16 / 255)
    region: Annotated[Region | None, *regions.field()] = None  # where they may act; none = everywhere
    aim: Annotated[Region | None, *regions.field()] = (
        None  # what they must break; none = all that is outside the region
    )
    attack: Annotated[Algorithm, *attacks.field()] = Field(default_factory=lambda: attacks.build("pgd-region"))
    number: Count = 3
    every_iterate: bool = False  # a pixel is fooled if any step fooled it, not only the last
    distances: tuple[Pixels, ...] = ()  # edges of the rings around the region to count in, pixels

    stage: ClassVar[Stage] = "network"
    parts: ClassVar[str] = ""
    channels: ClassVar[None] = None

    @model_validator(mode="after")
    def _check(self) -> MultiAttack:
        if self.attack.seeks != "damage" or math.isinf(self.threat.radius):
            raise BadInput("multi-attack: expected an attack within a radius, such as pgd-region with eps")
        keep = getattr(self.attack, "keep", "last")  # one that says nothing of it promises nothing
        if keep != "last":
            raise BadInput(
                "multi-attack returns last iterates: expected an attack with keep=last, such as pgd-region, "
                f"found {attacks.name(self.attack)} with keep={keep}"
            )
        return self

    @property
    def name(self) -> str:
        """What it does and where, derived from its settings."""
        where = f" in {regions.name(self.region)}" if self.region else ""
        return f"{self.number} x {attacks.name(self.attack)}{self._every}{where}{self._at}"

    @property
    def label(self) -> str:
        """Its name in tables."""
        return f"{self.name} {self.threat}"

    @property
    def about(self) -> str:
        """The attack's settings and the threat in one line."""
        return f"{describe(self.attack)}; {self.threat}"

    @property
    def curve_point(self) -> CurvePoint:
        """Which attack and what it is after, its radius and steps, and how many of them."""
        what = f"{self.number} x {name_without_steps(self.attack)}{self._every}{self._at}{self.threat.aside}"
        return CurvePoint(what, self.threat.radius, steps_of(self.attack), self.number)

    @property
    def _every(self) -> str:
        return " every iterate" if self.every_iterate else ""

    @property
    def _at(self) -> str:
        return f" at {regions.name(self.aim)}" if self.aim else ""

    def passes(self) -> tuple[int, int]:
        """Count the most forwards and backwards that one image costs."""
        forwards, backwards = self.attack.passes()
        return 1 + self.number * (forwards + 1), self.number * backwards

    @torch.no_grad()
    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """Run every attack; return after each what all up to it have fooled together."""
        zones = self._zones(batch, seed)
        together = predict(model(batch.images))
        sound = (together == batch.labels) & batch.valid
        forwards, backwards = torch.ones(len(batch), dtype=torch.int64), torch.zeros(len(batch), dtype=torch.int64)
        results = []
        for number in range(1, self.number + 1):
            aim = zones["aim"] & _unfooled(batch, together)
            blow = self._strike(
                model, batch, zones.get("inside"), aim, sound, seed_of(seed, "multi-attack", str(number))
            )
            together = first_fooled(batch, together, blow.shown)
            forwards, backwards = forwards + blow.forwards, backwards + blow.backwards
            results.append(Result(f"attack-{number}", blow.images, blow.size))
            results.append(Result(f"cumulative-{number}", blow.images, blow.size, prediction=together))
        return Perturbed(tuple(results), forwards, backwards, zones)

    def _zones(self, batch: Batch, seed: int) -> dict[str, Mask]:
        everywhere = torch.ones_like(batch.valid)
        if self.region is None:
            return {"aim": everywhere if self.aim is None else self.aim.mask(batch, seed)}
        zones = distance_zones(self.region.mask(batch, seed), self.distances)
        return zones | {"aim": zones["outside"] if self.aim is None else self.aim.mask(batch, seed)}

    def _strike(self, model: nn.Module, batch: Batch, inside: Mask | None, aim: Mask, sound: Mask, seed: int) -> _Blow:
        """Attack the aimed pixels once; images without any are left as they are."""
        blow = _Blow.none(batch)
        indices = aim.flatten(1).any(1).nonzero()[:, 0].tolist()
        if not indices:
            return blow
        region = None if inside is None else inside[indices]
        struck = batch.pick(indices)
        problem = _WatchedProblem(
            model,
            struck,
            self.threat,
            sound=sound[indices],
            watch=self.every_iterate,
            region=region,
            aim=aim[indices],
            seed=seed,
            keep="last",
        )
        delta = problem.feasible.project(self.attack.run(problem), self.threat.radius)
        blow.images[indices], blow.size[indices] = problem.feasible.apply(delta), problem.feasible.size(delta)
        last = predict(model(blow.images[indices]))
        blow.shown[indices] = torch.where(problem.shown == NOTHING, last, problem.shown)
        blow.forwards[indices], blow.backwards[indices] = problem.forwards + 1, problem.backwards
        return blow


@dataclass(frozen=True)
class _Blow:
    """What one attack did; only the images that it struck are filled in."""

    images: Float[Tensor, "b c h w"]
    size: Float[Tensor, " b"]
    shown: Labels  # the class that a pixel was fooled into, else the one it shows at last
    forwards: Int64[Tensor, " b"]
    backwards: Int64[Tensor, " b"]

    @classmethod
    def none(cls, batch: Batch) -> _Blow:
        nothing = torch.zeros(len(batch), dtype=torch.int64)
        size = batch.images.new_zeros(len(batch))
        return cls(batch.images.clone(), size, torch.full_like(batch.labels, NOTHING), nothing, nothing.clone())


class _WatchedProblem(Problem):
    """A problem that tells losses of the whole image, and can watch what each pixel was fooled into first."""

    def __init__(
        self, model: nn.Module, batch: Batch, threat: Threat, *, sound: Mask, watch: bool, **rest: Any
    ) -> None:
        super().__init__(model, batch, threat, **rest)
        self.sound, self.watch = sound, watch
        self.shown: Labels = torch.full_like(self.labels, NOTHING)

    def _view(self, logits: Float[Tensor, "n k h w"], indices: list[int], progress: float) -> View:
        view = super()._view(logits, indices, progress)
        view = replace(view, valid=self.batch.valid[indices], sound=self.sound[indices])
        if self.watch:
            earlier = self.shown[indices]
            fooled = (view.prediction == view.labels) == view.targeted
            self.shown[indices] = torch.where((earlier == NOTHING) & fooled, view.prediction, earlier)
        return view


def first_fooled(batch: Batch, together: Labels, shown: Labels) -> Labels:
    """Return what several attacks have fooled, with one more: a pixel stays as the first that fooled it left it."""
    fallen = _unfooled(batch, together) & (shown != NOTHING) & ~_unfooled(batch, shown)
    return torch.where(fallen, shown, together)


def _unfooled(batch: Batch, prediction: Labels) -> Mask:
    """Mark the pixels still to be won: right, or not what is wanted of them."""
    if batch.goal is None or batch.goal_valid is None:
        return batch.valid & (prediction == batch.labels)
    return batch.goal_valid & (prediction != batch.goal)


def several(change: Perturbation) -> TypeGuard[MultiAttack]:
    """Tell whether a perturbation is several attacks, each on what the others left."""
    return change.curve_point is not None and change.curve_point.number > 0
