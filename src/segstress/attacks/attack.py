"""An attack as a perturbation: an algorithm, what it may do, and where."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import model_validator
from torch import Tensor, nn

from ..core import (
    BALLS,
    BadInput,
    Batch,
    CurvePoint,
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
from ..core.quantities import Count
from ..metrics.counts import predict
from .algorithm import Algorithm, attacks, name_without_steps, needs_weights, steps_of
from .search.feasible import per_image
from .search.polish import POLISHING, polish
from .search.problem import Keep, Problem


@perturbations.register("attack")
@settings
class Attack:
    """Search for a harmful delta.

    Of the iterates of a search it keeps, as `keep` says: `best`, inside the ball the one with the fewest right pixels
    and the one with the lowest mIoU, without a radius the smallest that does enough, polished; `accuracy`, the one with
    the fewest right pixels for every figure; `smallest`, the smallest that does enough, clipped into the ball and not
    polished; `last`, whatever the search ends with, which spares the looks that only compare."""

    algorithm: Annotated[Algorithm, *attacks.field()]
    threat: Threat = Threat()
    region: Annotated[Region | None, *regions.field()] = None  # where it may act; none = everywhere
    aim: Annotated[Region | None, *regions.field()] = None  # what it must break; none = every valid pixel
    weights: tuple[float, ...] = ()  # of the classes, for balanced losses; none = 1 / pixels of the class in the image
    draws: Count = 1  # passes averaged at each look, for models whose output is random
    keep: Keep | None = None  # iterate to return (below); none = as the algorithm says, or else best
    clip: Literal["clamp", "rescale"] = "clamp"  # how a delta that was sought small is brought inside a finite radius

    stage: ClassVar[Stage] = "network"
    parts: ClassVar[str] = ""
    channels: ClassVar[None] = None

    @model_validator(mode="after")
    def _check(self) -> Attack:
        if self.algorithm.seeks == "damage" and math.isinf(self.threat.radius):
            raise BadInput(f'attack {attacks.name(self.algorithm)} needs a radius: give eps, for example eps="8/255"')
        known, norm = getattr(self.algorithm, "norms", BALLS), self.threat.norm
        if norm not in known:
            raise BadInput(f"attack {attacks.name(self.algorithm)} works in {', '.join(known)}, found norm {norm}")
        if needs_weights(self.algorithm) and not self.weights:
            raise BadInput(
                f"attack {attacks.name(self.algorithm)} weighs classes by their pixels in a training split: give "
                "weights=<dataset> (--weights on the command line), e.g. weights=shapes:train, or balance=image to "
                "count each image's own pixels"
            )
        if self.keep is None:  # the spec then says what is done
            object.__setattr__(self, "keep", self._own_keep)
        if self.keep == "smallest" and self.algorithm.seeks != "smallness":
            raise BadInput(
                f"attack {attacks.name(self.algorithm)} does not seek the smallest delta; keep=best, or last"
            )
        return self

    @property
    def _own_keep(self) -> Keep:
        """What the algorithm keeps where nothing else is said."""
        return getattr(self.algorithm, "keep", "best")

    @property
    def name(self) -> str:
        """What it does and where, derived from its settings."""
        where = f" in {regions.name(self.region)}" if self.region else ""
        return f"{attacks.name(self.algorithm)}{where}{self._ways}"

    @property
    def _ways(self) -> str:
        """Name what is not as usual, beside region and threat."""
        aim = f" at {regions.name(self.aim)}" if self.aim else ""
        extras = (" weighted" if self.weights else "") + (f" of {self.draws} draws" if self.draws > 1 else "")
        kept = f" keeping {self.keep}" if self._own_keep not in ("best", self.keep) else ""
        return f"{aim}{extras}{kept}"

    @property
    def label(self) -> str:
        """Its name in tables: what it does, and under which threat."""
        return f"{self.name} {self.threat}"

    @property
    def about(self) -> str:
        """The algorithm's settings and the threat in one line."""
        return f"{describe(self.algorithm)}; {self.threat}"

    @property
    def curve_point(self) -> CurvePoint | None:
        """Which attack and what it is after, its radius and steps; none where it may act everywhere."""
        if self.region is None:
            return None
        what = f"{name_without_steps(self.algorithm)}{self._ways}{self.threat.aside}"
        return CurvePoint(what, self.threat.radius, steps_of(self.algorithm))

    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """Search for the most harmful images, one result for each goal."""
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
            keep=self.keep or "best",
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
        """Count the most forwards and backwards of one image: the algorithm's, and the looks around its run."""
        forwards, backwards = self.algorithm.passes()
        return self.draws * (forwards + self._looks) + self._asks_for_reference, self.draws * backwards

    @property
    def _looks(self) -> int:
        """At the clean image, at what the run ends with, at the smallest delta once clipped, and the polish."""
        if self.keep in ("last", "smallest"):
            return 0 if self.keep == "last" else 1
        if self.algorithm.seeks == "damage":
            return 2
        return 3 if math.isfinite(self.threat.radius) else 2 + POLISHING

    def _results(self, problem: Problem, last: Tensor) -> tuple[Result, ...]:
        if self.keep != "last" and math.isinf(self.threat.radius):
            return self._smallest(problem, last)
        if self.keep == "last":
            deltas = {"any": self._clip(problem, last)}
        elif self.keep == "smallest":
            deltas = {"any": self._clip(problem, next(iter(problem.smallest().values())))}
        else:
            for delta in (last, *list(problem.smallest().values())[:1]):
                problem.peek(self._clip(problem, delta))
            deltas = problem.best()
        allowed = problem.feasible
        return tuple(Result(goal, allowed.apply(delta), allowed.size(delta)) for goal, delta in deltas.items())

    def _smallest(self, problem: Problem, last: Tensor) -> tuple[Result, ...]:
        """Return one result for each threshold, that of the threat first."""
        allowed, polished = problem.feasible, self.keep != "smallest"
        if polished:
            problem.peek(last)
        raw = {goal: allowed.size(delta) for goal, delta in problem.smallest().items()}
        if polished:
            polish(problem)
        return tuple(
            Result(goal, allowed.apply(delta), allowed.size(delta), raw_size=raw[goal])
            for goal, delta in problem.smallest().items()
        )

    def _clip(self, problem: Problem, delta: Tensor) -> Tensor:
        radius, allowed = self.threat.radius, problem.feasible
        if self.clip == "rescale" and math.isfinite(radius):
            shrink = radius / allowed.size(delta).clamp(min=torch.finfo(delta.dtype).tiny)
            delta = delta * per_image(shrink.clamp(max=1))
        return allowed.project(delta, radius)
