"""What the selected images show beyond the ranking: who fails where, and whether a failure is shared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64
from scipy.stats import kendalltau, spearmanr

from .matrices import Judged

FAILED = 0.6  # quality below which a model has failed on an image
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of quality, as in the paper's figure 6


def cases(judged: Judged, failed: float = FAILED) -> Int64[np.ndarray, "models models 3"]:
    """For each defender and attacker: memberships where both are right (I), one fails (II), both fail (III)."""
    fails = (judged.defended < failed).astype(int) + (judged.attacked < failed)
    counts = np.zeros((judged.models, judged.models, 3), dtype=np.int64)
    np.add.at(counts, (judged.defenders, judged.attackers, fails), 1)
    return counts


def transfer(
    quality: Float64[np.ndarray, "images models"], judged: Judged
) -> list[tuple[Float64[np.ndarray, " own"], Float64[np.ndarray, " others"]]]:
    """Quality of each model on the images selected with it, and on those selected by other pairs."""
    own = np.zeros(quality.shape, dtype=bool)
    own[judged.images, judged.defenders] = True
    own[judged.images, judged.attackers] = True
    return [(quality[own[:, model], model], quality[~own[:, model], model]) for model in range(quality.shape[1])]


def quality_bins(quality: Float64[np.ndarray, "images models"]) -> Int64[np.ndarray, " bins"]:
    """Number of image and model pairs in each bin of quality."""
    return np.histogram(quality[np.isfinite(quality)], BINS)[0]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Spearman's and Kendall's rank correlation of two sets of strengths; NaN where one has only a single value."""
    if min(len(set(first)), len(set(second))) < 2:
        return float("nan"), float("nan")
    return float(spearmanr(first, second).statistic), float(kendalltau(first, second).statistic)
