"""How much two models agree on an image: three integers per class and pair, never a table of all class pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Float64, Int, Int64, Shaped

from ..core import Registry
from ..metrics.counts import ACTUAL, HITS, PREDICTED
from ..metrics.metric import ratio
from ..metrics.scores import columns, image_miou

Concordance = Callable[[np.ndarray], np.ndarray]  # counts (..., classes, 3) -> agreement in [0, 1]

concordances: Registry[Concordance] = Registry("concordance")
ONE_WAY = frozenset({"fwiou", "mpa"})  # the defender is the reference, so the order of the two models matters
CODE_BITS, GROUP_BITS = 64, 32  # of a packed integer, and of the number of a group in it
BY_CLASS = frozenset({"class_iou"})  # one value for each class, read by the group of that class


def void_of(maps: np.ndarray) -> int:
    """Return the label that stands for no answer: the largest that the maps' type can hold."""
    return int(np.iinfo(maps.dtype).max)


def label_type(classes: int) -> np.dtype:
    """Return the smallest type that holds every class and void."""
    return np.dtype(np.uint8 if classes <= np.iinfo(np.uint8).max else np.uint16)


def pair_counts(
    maps: Shaped[np.ndarray, "models h w"], classes: int, rows: Iterable[int] | None = None
) -> Int64[np.ndarray, "models models classes 3"]:
    """Count every ordered pair, the first as truth; with `rows`, only of these models against earlier ones."""
    labels, areas = _merge_alike(*_merge_runs(maps), classes)
    holes = (labels == classes).any(1)
    totals = [_weigh(row, areas, classes) for row in labels]
    counts = np.zeros((len(maps), len(maps), classes, 3), dtype=np.int64)
    for second in range(len(maps)) if rows is None else rows:
        for first in range(second):
            here, there, weights = labels[first], labels[second], areas
            actual, predicted = totals[first], totals[second]
            if holes[first] or holes[second]:
                seen = (here < classes) & (there < classes)
                here, there, weights = here[seen], there[seen], areas[seen]
                actual, predicted = (_weigh(row, weights, classes) for row in (here, there))
            same = here == there
            hits = _weigh(here[same], weights[same], classes)
            for pair, truth, other in (((first, second), actual, predicted), ((second, first), predicted, actual)):
                counts[pair][:, HITS], counts[pair][:, PREDICTED], counts[pair][:, ACTUAL] = hits, other, truth
    return counts


def _merge_runs(maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge stretches of the raster in which no map changes: neighbours agree, so they are far fewer than pixels."""
    flat = maps.reshape(len(maps), -1)
    begins = np.zeros(flat.shape[1], dtype=bool)
    begins[0] = True
    for labels in flat:
        begins[1:] |= labels[1:] != labels[:-1]
    starts = np.flatnonzero(begins)
    return flat[:, starts], np.diff(starts, append=flat.shape[1])


def _merge_alike(labels: np.ndarray, lengths: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Merge the runs on which every model says the same; void becomes the label `classes`.

    The labels of as many models as fit are packed into one integer, after the group found so far.
    """
    labels = np.minimum(labels, classes)
    bits = int(classes).bit_length()
    group, taken, room = np.zeros(labels.shape[1], dtype=np.int64), 0, CODE_BITS
    while taken < len(labels):
        codes, upto = group.astype(np.uint64), min(len(labels), taken + room // bits)
        for row in labels[taken:upto]:
            codes = (codes << np.uint64(bits)) | row
        _, first, group = np.unique(codes, return_index=True, return_inverse=True)
        taken, room = upto, CODE_BITS - GROUP_BITS
    return labels[:, first], np.bincount(group, lengths)


def _weigh(labels: np.ndarray, lengths: np.ndarray, classes: int) -> np.ndarray:
    return np.bincount(labels, lengths, minlength=classes)[:classes].astype(np.int64)


@concordances.register("miou")
def miou(counts: Int[np.ndarray, "*pairs classes 3"]) -> Float64[np.ndarray, "*pairs"]:
    """Return the mean IoU over the classes that either map shows, background included."""
    return image_miou(counts)


@concordances.register("miou_paper")
def miou_paper(counts: Int[np.ndarray, "*pairs classes 3"]) -> Float64[np.ndarray, "*pairs"]:
    """Average IoU over all classes as equation 7 is printed: equal maps of few classes score low, so prefer miou."""
    return image_miou(counts, "fixed")


@concordances.register("fwiou")
def fwiou(counts: Int[np.ndarray, "*pairs classes 3"]) -> Float64[np.ndarray, "*pairs"]:
    """Return the IoU of each class weighted by the defender's pixels of it."""
    hits, predicted, actual = columns(counts)
    union = predicted + actual - hits
    return ratio((actual * hits / (union + (union == 0))).sum(-1), actual.sum(-1))


@concordances.register("mpa")
def mpa(counts: Int[np.ndarray, "*pairs classes 3"]) -> Float64[np.ndarray, "*pairs"]:
    """Return the share of the defender's pixels of a class that the attacker shares, mean over its classes."""
    hits, _, actual = columns(counts)
    return ratio((hits / (actual + (actual == 0))).sum(-1), (actual > 0).sum(-1))


@concordances.register("dice")
def dice(counts: Int[np.ndarray, "*pairs classes 3"]) -> Float64[np.ndarray, "*pairs"]:
    """Return the Dice of each class, mean over the classes that either map shows."""
    hits, predicted, actual = columns(counts)
    both = predicted + actual
    return ratio((2 * hits / (both + (both == 0))).sum(-1), (both > 0).sum(-1))


@concordances.register("class_iou")
def class_iou(counts: Int[np.ndarray, "*pairs classes 3"]) -> Float64[np.ndarray, "*pairs classes"]:
    """Return the IoU of the group's own class alone; NaN where neither map shows it."""
    hits, predicted, actual = columns(counts)
    return ratio(hits, predicted + actual - hits)
