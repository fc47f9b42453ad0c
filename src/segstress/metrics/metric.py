"""A metric is a score of counts taken over the pool of all images, or averaged over images; here both are made."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from torch import Tensor

from ..core import BadInput, Registry

Array = TypeVar("Array", np.ndarray, Tensor)
Score = Callable[..., Any]  # counts (..., classes, 3) and rules -> one value for each of `...`
Goal = Literal["accuracy", "miou"]
Zone = Literal["all", "foreground", "regions"]
RESERVED = ("_foreground", "_selected")  # what reports add to a metric's name


@dataclass(frozen=True)
class Declaration:
    """What a metric says of itself, so that every report knows how to show it."""

    score: Score  # of an image by itself; the perturbation with the lowest one is an image's worst case
    goal: Goal = "accuracy"  # which result of an attack is read: fewest correct pixels, or lowest image mIoU
    pooled: bool = False  # the worst case is sought for the whole set by a greedy search, not image by image
    zones: tuple[Zone, ...] = ("all", "regions")  # where it is shown: whole images, foreground, damaged regions
    headline: bool = True  # also in the short tables, in curves and in the terminal


@runtime_checkable
class Metric(Protocol):
    """A figure of a whole set of images."""

    declaration: Declaration

    def __call__(self, counts: Any, *, weights: Any = None, **rules: Any) -> Any:
        """Return the figure; with weights (draws, images), one figure per draw."""
        ...


F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Metric)


class MetricRegistry(Registry[Metric]):
    """Metrics by name; each declares how reports show it, or it would be silently in none."""

    def register(self, name: str) -> Callable[[F], F]:
        """Give a metric its name, as a decorator."""
        if name.endswith(RESERVED):
            raise BadInput(f"metric '{name}': a name may not end in {' or '.join(RESERVED)}, which reports add")

        def add(make: F) -> F:
            if not isinstance(make, Metric):
                raise BadInput(f"metric '{name}': expected a score under @over_pool or @over_images, found {make!r}")
            return Registry.register(self, name)(make)

        return add


metrics = MetricRegistry("metric")


def declare(
    *,
    goal: Goal = "accuracy",
    chosen_by: Score | None = None,
    pooled: bool = False,
    zones: tuple[Zone, ...] = ("all", "regions"),
    headline: bool = True,
) -> Callable[[M], M]:
    """Say above over_pool or over_images what Declaration explains; `chosen_by` is another image score."""

    def set_declaration(metric: M) -> M:
        score = chosen_by or metric.declaration.score
        metric.declaration = replace(
            metric.declaration, score=score, goal=goal, pooled=pooled, zones=zones, headline=headline
        )
        return metric

    return set_declaration


def over_pool(score: Score) -> Metric:
    """Make a metric of the score of all images put together as one large image, as a decorator."""

    @functools.wraps(score)
    def metric(counts: Any, *, weights: Any = None, **rules: Any) -> Any:
        if weights is None:
            return float(score(counts.sum(0)[None], **rules)[0])
        totals = weights @ exact(counts).reshape(len(counts), -1)
        return score(totals.reshape(len(weights), *counts.shape[1:]), **rules)

    return _declared(metric, score)


def over_images(score: Score) -> Metric:
    """Make a metric of the mean of the images' scores, without those that are NaN, as a decorator."""

    @functools.wraps(score)
    def metric(counts: Any, *, weights: Any = None, **rules: Any) -> Any:
        values = score(counts, **rules)
        known = values == values  # NaN differs from itself, in NumPy and in torch
        if weights is None:
            return float(ratio(values[known].sum(), known.sum()))
        return ratio(weights[:, known] @ values[known], weights[:, known].sum(-1))

    return _declared(metric, score)


def _declared(metric: Any, score: Score) -> Metric:
    metric.declaration = Declaration(score)
    return metric


def definition(
    name: str, *, absent: str | None = None, void: int | str = "none", background: Literal["in", "out"] = "in"
) -> str:
    """Return what a figure means, such as `NmIoU[absent=present, void=255, background=in]`; by its own rule if none."""
    rules = [f"void={void}", f"background={background}"]
    usual = inspect.signature(metrics.get(name)).parameters.get("absent")
    if usual is not None:
        rules.insert(0, f"absent={absent or usual.default}")
    title = metrics.about(name).partition(":")[0]
    return f"{title}[{', '.join(rules)}]"


def exact(counts: Array) -> Array:
    """Return the same numbers in double precision, whatever their kind."""
    return counts.double() if isinstance(counts, Tensor) else counts.astype(np.float64, copy=False)


def ratio(part: Any, whole: Any) -> Any:
    """Return the quotient, NaN for 0 / 0."""
    with np.errstate(invalid="ignore"):  # NaN is meant, so NumPy need not warn
        return part / whole
