"""What corruptions cost a model beside another one: CD, rCD and CE, with intervals over the images of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..metrics import metrics
from ..metrics.intervals import Interval, interval_of
from ..metrics.scores import rce
from .local import LOSS, UNKNOWN, LocalResult, known_mean, of_same_images

ZONE = "all"  # all three are of whole images
Weights = np.ndarray | None  # (draws, images); none = every image once


def corruption_degradation(reference: Sequence[LocalResult], own: Sequence[LocalResult], figure: str) -> Interval:
    """Return CD: what is wrong, summed over severities, over the same of the reference."""

    def ratio(weights: Weights) -> np.ndarray:
        wrong, beside = (_total([1 - _score(r, figure, weights) for r in side]) for side in (own, reference))
        return _over(wrong, beside)

    return _interval([*reference, *own], ratio, (0.0, math.inf))


def relative_degradation(reference: Sequence[LocalResult], own: Sequence[LocalResult], figure: str) -> Interval:
    """Return rCD: what clean has more, summed over severities, over the same of the reference."""

    def ratio(weights: Weights) -> np.ndarray:
        lost, beside = (
            _total([_score(r, figure, weights, "clean") - _score(r, figure, weights) for r in side])
            for side in (own, reference)
        )
        return _over(lost, beside)

    return _interval([*reference, *own], ratio, (-math.inf, math.inf))


def corruption_error(reference: LocalResult, own: Sequence[LocalResult], figure: str) -> Interval:
    """Return CE: what the mean over corruptions lacks of the reference's clean figure, in shares of it."""

    def lacking(weights: Weights) -> np.ndarray:
        clean = _score(reference, figure, weights, "clean")
        return _over(clean - _total([_score(result, figure, weights) for result in own]) / len(own), clean)

    return _interval([reference, *own], lacking, LOSS)


def relative_loss(
    reference: Sequence[LocalResult], own: Sequence[LocalResult], figure: str, zone: str, state: str = "perturbed"
) -> Interval:
    """Return what results lack against those of a reference, in shares of the latter; both weigh the same images."""
    sides = [[r for r in side if not math.isnan(r.score(figure, zone, state))] for side in (reference, own)]
    if not all(sides) or not of_same_images([*sides[0], *sides[1]]):
        return Interval(rce(*(known_mean(r.score(figure, zone, state) for r in side) for side in sides)), *UNKNOWN)

    def lost(weights: np.ndarray) -> np.ndarray:
        whole, left = (_total([_score(r, figure, weights, state, zone) for r in side]) / len(side) for side in sides)
        return _over(whole - left, whole)

    return interval_of(lost, len(sides[0][0].clean[ZONE]), within=LOSS)


def _interval(
    results: Sequence[LocalResult], statistic: Callable[[Weights], np.ndarray], within: tuple[float, float]
) -> Interval:
    """Weigh the images of all results alike; where their images differ, the value alone is known."""
    if of_same_images(results):
        return interval_of(statistic, len(results[0].clean[ZONE]), within=within)
    return Interval(float(statistic(None)), *UNKNOWN)


def _score(
    result: LocalResult, figure: str, weights: Weights, state: str = "perturbed", zone: str = ZONE
) -> np.ndarray:
    counts = (result.clean if state == "clean" else result.perturbed)[zone]
    score: np.ndarray = metrics.get(figure)(counts, weights=weights)
    return score


def _total(parts: Sequence[np.ndarray]) -> np.ndarray:
    total: np.ndarray = np.sum(parts, axis=0)
    return total


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide; nothing where there is nothing to compare with."""
    share: np.ndarray = np.where(whole == 0, np.nan, part / np.where(whole == 0, 1, whole))
    return share
