"""An attack as a perturbation: an algorithm, what it may do, and where."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from ..core import (
    BALLS,
    BadInput,
    Batch,
    Perturbed,
    Region,
    Result,
    Scene,
    Stage,
    Threat,
    aimed,
    describe,
    perturbations,
    regions,
    settings,
)
from ..metrics.counts import predict
from .algorithm import Algorithm, attacks
from .search.polish import polish
from .search.problem import Problem


@perturbations.register("attack")
@settings
class Attack:
    """Search for a harmful delta."""

    algorithm: Annotated[Algorithm, *attacks.field()]
    threat: Threat = Threat()
    region: Annotated[Region | None, *regions.field()] = None  # where it may act; none = everywhere
    aim: Annotated[Region | None, *regions.field()] = None  # what it must break; none = every valid pixel
    weights: tuple[float, ...] = ()  # of the classes, for balanced losses; none = 1 / pixels of the class in the image
    draws: Annotated[int, Field(ge=1)] = 1  # passes averaged at each look, for models whose output is random
    keep: Literal["best", "last"] = "best"  # iterate to return; `last` spares the looks that only compare
    clip: Literal["clamp", "rescale"] = "clamp"  # how a delta that was sought small is brought inside a finite radius

    stage: ClassVar[Stage] = "network"
    parts: ClassVar[str] = ""

    @model_validator(mode="after")
    def _check(self) -> Attack:
        if self.algorithm.seeks == "damage" and math.isinf(self.threat.radius):
            raise BadInput(f'attack {attacks.name(self.algorithm)} needs a radius: give eps, for example eps="8/255"')
        known, norm = getattr(self.algorithm, "norms", BALLS), self.threat.norm
        if norm not in known:
            raise BadInput(f"attack {attacks.name(self.algorithm)} works in {', '.join(known)}, found norm {norm}")
        return self

    @property
    def name(self) -> str:
        """What it does and where, derived from its settings."""
        places = "".join(f" {word} {regions.name(r)}" for word, r in (("in", self.region), ("at", self.aim)) if r)
        extras = (" weighted" if self.weights else "") + (f" of {self.draws} draws" if self.draws > 1 else "")
        return f"{attacks.name(self.algorithm)}{places}{extras}"

    @property
    def label(self) -> str:
        """Its name in tables: what it does, and under which threat."""
        return f"{self.name} {self.threat}"

    @property
    def about(self) -> str:
        """The algorithm's settings and the threat in one line."""
        return f"{describe(self.algorithm)}; {self.threat}"

    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """The most harmful images found, one result for each goal."""
        batch = aimed(batch, self.threat.target, Scene(model))
        if self._asks_for_reference:
            with torch.no_grad():
                batch = replace(batch, labels=torch.where(batch.valid, predict(model(batch.images)), 0))
        zones = {}
        if self.region is not None:
            zones["inside"] = self.region.mask(batch, seed)
            zones["outside"] = ~zones["inside"]
        if self.aim is not None:
            zones["aim"] = self.aim.mask(batch, seed)
        problem = Problem(
            model,
            batch,
            self.threat,
            seeks=self.algorithm.seeks,
            region=zones.get("inside"),
            aim=zones.get("aim"),
            weights=self.weights,
            seed=seed,
            draws=self.draws,
            keep=self.keep,
        )
        with torch.no_grad():
            last = self.algorithm.run(problem)
            results = self._results(problem, last)
        forwards = problem.forwards + self._asks_for_reference
        return Perturbed(results, forwards, problem.backwards, zones, problem.history.traces())

    @property
    def _asks_for_reference(self) -> bool:
        """Whether the model is looked at once more, for its clean prediction."""
        return self.threat.reference == "prediction"

    def passes(self) -> tuple[int, int]:
        """The most forwards and backwards that one image costs."""
        forwards, backwards = self.algorithm.passes()
        return self.draws * forwards + self._asks_for_reference, self.draws * backwards

    def _results(self, problem: Problem, last: Tensor) -> tuple[Result, ...]:
        if self.keep == "last":
            deltas = {"any": self._clip(problem, last)}
        elif math.isinf(self.threat.radius):
            problem.peek(last)
            return _smallest(problem)
        else:
            sought = next((smallest.delta for smallest in problem.smallest.values()), last)
            for delta in (last,) if sought is last else (last, sought):
                problem.peek(self._clip(problem, delta))
            deltas = {goal: tracker.delta for goal, tracker in problem.trackers.items()}
        allowed = problem.feasible
        return tuple(Result(goal, allowed.apply(delta), allowed.size(delta)) for goal, delta in deltas.items())

    def _clip(self, problem: Problem, delta: Tensor) -> Tensor:
        radius, allowed = self.threat.radius, problem.feasible
        if self.clip == "rescale" and math.isfinite(radius):
            shrink = radius / allowed.size(delta).clamp(min=torch.finfo(delta.dtype).tiny)
            delta = delta * shrink.clamp(max=1)[:, None, None, None]
        return allowed.project(delta, radius)


def _smallest(problem: Problem) -> tuple[Result, ...]:
    """One polished result for each threshold, that of the threat first."""
    allowed = problem.feasible
    raw = {goal: allowed.size(smallest.delta) for goal, smallest in problem.smallest.items()}
    polish(problem)
    return tuple(
        Result(goal, allowed.apply(smallest.delta), allowed.size(smallest.delta), raw_size=raw[goal])
        for goal, smallest in problem.smallest.items()
    )
