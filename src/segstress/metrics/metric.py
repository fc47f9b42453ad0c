"""A metric is a score of counts taken over the pool of all images, or averaged over images; here both are made."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from torch import Tensor

from ..core import Registry

Array = TypeVar("Array", np.ndarray, Tensor)
Score = Callable[..., Any]  # counts (..., classes, 3) and rules -> one value for each of `...`


@runtime_checkable
class Metric(Protocol):
    """A figure of a whole set of images."""

    def __call__(self, counts: Any, *, weights: Any = None, **rules: Any) -> Any:
        """The figure; with weights (draws, images), one figure per draw."""
        ...


metrics: Registry[Metric] = Registry("metric")


def over_pool(score: Score) -> Metric:
    """Decorator: the score of all images put together as one large image."""

    @functools.wraps(score)
    def metric(counts: Any, *, weights: Any = None, **rules: Any) -> Any:
        if weights is None:
            return float(score(counts.sum(0)[None], **rules)[0])
        totals = weights @ exact(counts).reshape(len(counts), -1)
        return score(totals.reshape(len(weights), *counts.shape[1:]), **rules)

    return metric


def over_images(score: Score) -> Metric:
    """Decorator: the mean of the images' scores, without the images whose score is NaN."""

    @functools.wraps(score)
    def metric(counts: Any, *, weights: Any = None, **rules: Any) -> Any:
        values = score(counts, **rules)
        known = values == values  # NaN differs from itself, in NumPy and in torch
        if weights is None:
            return float(ratio(values[known].sum(), known.sum()))
        return ratio(weights[:, known] @ values[known], weights[:, known].sum(-1))

    return metric


def definition(
    name: str, *, absent: str = "present", void: int | str = "none", background: Literal["in", "out"] = "in"
) -> str:
    """What a figure means, such as `NmIoU[absent=present, void=255, background=in]`."""
    rules = [f"void={void}", f"background={background}"]
    if "absent" in inspect.signature(metrics.get(name)).parameters:
        rules.insert(0, f"absent={absent}")
    title = metrics.about(name).partition(":")[0]
    return f"{title}[{', '.join(rules)}]"


def exact(counts: Array) -> Array:
    """The same numbers in double precision, whatever their kind."""
    return counts.double() if isinstance(counts, Tensor) else counts.astype(np.float64, copy=False)


def ratio(part: Any, whole: Any) -> Any:
    """The quotient, NaN for 0 / 0."""
    with np.errstate(invalid="ignore"):  # NaN is meant, so NumPy need not warn
        return part / whole
