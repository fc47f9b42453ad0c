"""What sparing finished images leaves open: by how much each worst-case figure may be too high for it, at most."""

from __future__ import annotations

import math

import numpy as np

from ...metrics.counts import ACTUAL, HITS, PREDICTED, few
from ...metrics.worst_case import bound
from .assessment import Assessment
from .figure_names import declaration_of, read_name, value_of


def spared(assessment: Assessment) -> np.ndarray:
    """Mark images (images,) finished with so few pixels right that some perturbation was not tried on them.

    An audit leaves images untried too, whatever stands on them; what that costs is estimated apart."""
    worst = assessment.worst["accuracy"].counts
    finished = few(worst[..., HITS].sum(1), worst[..., ACTUAL].sum(1), assessment.study.done_at)
    both: np.ndarray = assessment.untried & finished
    return both


def slack(assessment: Assessment, figure: str) -> float:
    """Return the most by which the worst case would be lower if nothing had been spared."""
    return lowered(assessment, figure, spared(assessment))


def lowered(assessment: Assessment, figure: str, which: np.ndarray) -> float:
    """Return by how much the worst case is lower, at most, if some images (images,) are lost.

    There every class is given what is worst for it: no pixel right, and every pixel in its union. NaN where no bound is
    known: of a pooled metric other than CmIoU, whose other images might be chosen anew."""
    if not which.any():
        return 0.0
    counts = assessment.worst[figure].counts
    hopeless = np.where(which[:, None, None], _hopeless(counts), counts)
    if not declaration_of(figure).pooled:
        return assessment.worst_score(figure) - value_of(figure, hopeless)
    if read_name(figure).metric != "cmiou":
        return math.nan
    candidates = np.concatenate([assessment.counts(figure), _hopeless(counts)[None]])  # the others may be chosen anew
    return assessment.worst_score(figure) - bound(candidates, np.vstack([assessment.answered, which]))


def _hopeless(counts: np.ndarray) -> np.ndarray:
    """Put no pixel right and each class wherever it is not true: worse than any one prediction can be."""
    actual = counts[..., ACTUAL]
    worse = np.zeros_like(counts)
    worse[..., ACTUAL], worse[..., PREDICTED] = actual, actual.sum(-1, keepdims=True) - actual
    return worse
