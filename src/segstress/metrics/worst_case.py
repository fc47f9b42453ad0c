"""The worst case over attacks: per image by a score, and of the whole set by a greedy search with its lower bound.

Counts are (attacks, images, classes, 3) with the attacks in declared order; `answered` says which attack has a result
for which image, and what has none is no candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

from .counts import ACTUAL
from .metric import Declaration, ratio
from .scores import Absent, classes_taken, columns, image_accuracy, image_miou

ImageScore = Callable[[np.ndarray], np.ndarray]  # counts (..., classes, 3) -> (...)
NOBODY = -1  # chosen for an image that has no candidate
LITTLE = 1e-6  # a pass over all images that gains no more ends the search


@dataclass(frozen=True)
class WorstCase:
    """For each image the attack that hurts most, and what it leaves."""

    chosen: Int64[np.ndarray, " images"]  # number in the declared order, or NOBODY
    values: Float64[np.ndarray, " images"]  # score of the image; NaN where NOBODY
    counts: Int[np.ndarray, "images classes 3"]  # zero where NOBODY, so that every metric leaves the image out


def choose_worst(
    declared: Declaration,
    counts: Int[np.ndarray, "attacks images classes 3"],
    answered: Bool[np.ndarray, "attacks images"],
) -> WorstCase:
    """Return the worst case of a metric, chosen as the metric declares."""
    return (greedy if declared.pooled else lowest)(counts, answered, declared.score)


def lowest(
    counts: Int[np.ndarray, "attacks images classes 3"],
    answered: Bool[np.ndarray, "attacks images"],
    score: ImageScore = image_accuracy,
) -> WorstCase:
    """Return the attack with the lowest score of each image; of equal ones the first."""
    return _select(counts, answered, _values(counts, answered, score).argmin(0), score)


def tied(
    counts: Int[np.ndarray, "attacks images classes 3"],
    answered: Bool[np.ndarray, "attacks images"],
    score: ImageScore = image_accuracy,
) -> Bool[np.ndarray, " images"]:
    """Return the images whose lowest score is reached by more than one attack."""
    values = _values(counts, answered, score)
    return ((values == values.min(0)) & np.isfinite(values)).sum(0) > 1


def greedy(
    counts: Int[np.ndarray, "attacks images classes 3"],
    answered: Bool[np.ndarray, "attacks images"],
    score: ImageScore = image_miou,
) -> WorstCase:
    """Seek the lowest score of all images put together, CmIoU for image_miou, by local search (arXiv:2306.12941).

    It starts from each attack alone, and from the image minima of accuracy and of the score."""
    minima = [_values(counts, answered, by).argmin(0) for by in (image_accuracy, score)]
    complete, owner = _complete(counts, answered)
    selection, values = _descend(complete, np.vstack([owner, *minima]), score)
    best = owner[selection[_nan_last(values).argmin()], np.arange(counts.shape[1])]
    return _select(counts, answered, best, score)


def bound(
    counts: Int[np.ndarray, "attacks images classes 3"],
    answered: Bool[np.ndarray, "attacks images"],
    absent: Absent = "present",
) -> float:
    """Bound CmIoU from below: the mean of each class's own minimum over the classes that any choice may show."""
    complete = _complete(counts, answered)[0]
    known = [_class_bound(complete[:, :, class_]) for class_ in range(counts.shape[2])]  # one by one, for memory's sake
    lowest_iou, union, actual = map(np.array, zip(*known, strict=True))
    taken = classes_taken(union, actual, absent)
    return float(ratio((lowest_iou * taken).sum(), taken.sum() * actual.any()))


def _class_bound(counts: np.ndarray) -> tuple[float, float, float]:
    """Return the least pooled IoU of a class over all choices, and the largest union and truth of an image.

    Dinkelbach's iteration for ratios of sums."""
    hits, predicted, actual = columns(counts)
    union = predicted + actual - hits
    lowest_iou, images = 1.0, np.arange(counts.shape[1])
    while True:
        choice = (hits - lowest_iou * union).argmin(0)
        top, bottom = (part[choice, images].sum() for part in (hits, union))
        iou = top / max(bottom, 1)  # counts are integers: only an empty union is below 1
        if iou >= lowest_iou:
            return lowest_iou, union.max(), actual.max()
        lowest_iou = iou


def _descend(counts: np.ndarray, selections: np.ndarray, score: ImageScore) -> tuple[np.ndarray, np.ndarray]:
    """Improve all starts pass by pass until none gains: their choices and the score of each."""
    images = np.arange(counts.shape[1])
    totals = np.stack([counts[selection, images].sum(0) for selection in selections])
    values = score(totals)
    active = np.arange(len(selections))
    while active.size:
        selections[active], totals[active] = _sweep(counts, selections[active], totals[active], score)
        before, values[active] = values[active], score(totals[active])
        active = active[before - values[active] > LITTLE]
    return selections, values


def _sweep(
    counts: np.ndarray, selection: np.ndarray, totals: np.ndarray, score: ImageScore
) -> tuple[np.ndarray, np.ndarray]:
    """Pass over the images in order; every start moves each image to the attack that is best for its score."""
    starts = np.arange(len(selection))
    for image in range(counts.shape[1]):
        now = selection[:, image]
        options = (totals - counts[now, image])[:, None] + counts[:, image]
        values = _nan_last(score(options))
        best = values.argmin(1)
        now = np.where(values[starts, best] < values[starts, now], best, now)  # a tie moves nothing
        selection[:, image], totals = now, options[starts, now]
    return selection, totals


def _values(counts: np.ndarray, answered: np.ndarray, score: ImageScore) -> np.ndarray:
    """Return the scores, infinite where there is no candidate; attack by attack, since a score takes much memory."""
    scores = np.stack([score(attack) for attack in counts])
    return _nan_last(np.where(_candidates(counts, answered), scores, np.inf))


def _nan_last(values: np.ndarray) -> np.ndarray:
    """Put infinity for NaN, which would else be the lowest."""
    return np.where(np.isnan(values), np.inf, values)


def _candidates(counts: np.ndarray, answered: np.ndarray) -> np.ndarray:
    """Tell where an attack answered and the image has a truth to compare with."""
    return answered & (counts[..., ACTUAL].sum(-1) > 0)


def _complete(counts: np.ndarray, answered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fill holes in counts, the attack of lowest accuracy in the place of no candidate; return whose they are too."""
    candidates = _candidates(counts, answered)
    by_accuracy = _values(counts, answered, image_accuracy).argmin(0)
    owner = np.where(candidates, np.arange(len(counts))[:, None], by_accuracy)
    if candidates.all():
        return counts, owner  # as they are: a copy takes as much memory again
    images = np.arange(counts.shape[1])
    complete = np.empty_like(counts)
    for number, stands_in in enumerate(owner):
        complete[number] = counts[stands_in, images] * candidates[stands_in, images][:, None, None]
    return complete, owner


def _select(counts: np.ndarray, answered: np.ndarray, selection: np.ndarray, score: ImageScore) -> WorstCase:
    """Return the chosen counts, and NOBODY where even the best is no candidate."""
    images = np.arange(len(selection))
    possible = _candidates(counts, answered)[selection, images]
    picked = counts[selection, images] * possible[:, None, None]
    return WorstCase(np.where(possible, selection, NOBODY), score(picked), picked)
