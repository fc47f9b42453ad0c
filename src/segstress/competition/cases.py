"""What the selected images show beyond the ranking: who fails where, and whether a failure is shared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64
from scipy.stats import kendalltau, spearmanr

from .matrices import Scored

FAILED = 0.6  # quality below which a model has failed on an image
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of quality, as in the paper's figure 6


def cases(scored: Scored, failed: float = FAILED) -> Int64[np.ndarray, "models models 3"]:
    """Count, for each defender and attacker, memberships where both are right (I), one fails (II), both fail (III)."""
    fails = (scored.defended < failed).astype(int) + (scored.attacked < failed)
    counts = np.zeros((scored.models, scored.models, 3), dtype=np.int64)
    np.add.at(counts, (scored.defenders, scored.attackers, fails), 1)
    return counts


def transfer(
    quality: Float64[np.ndarray, "images models"], scored: Scored
) -> list[tuple[Float64[np.ndarray, " own"], Float64[np.ndarray, " others"]]]:
    """Return the quality of each model on the images selected with it, and on those selected by other pairs."""
    own = np.zeros(quality.shape, dtype=bool)
    own[scored.images, scored.defenders] = True
    own[scored.images, scored.attackers] = True
    return [(quality[own[:, model], model], quality[~own[:, model], model]) for model in range(quality.shape[1])]


def quality_bins(quality: Float64[np.ndarray, "images models"]) -> Int64[np.ndarray, " bins"]:
    """Count image and model pairs in each bin of quality."""
    return np.histogram(quality[np.isfinite(quality)], BINS)[0]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return Spearman's and Kendall's rank correlation of two sets of strengths; NaN where one has a single value."""
    if min(len(set(first)), len(set(second))) < 2:
        return float("nan"), float("nan")
    return float(spearmanr(first, second).statistic), float(kendalltau(first, second).statistic)
