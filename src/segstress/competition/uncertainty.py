"""How sure a ranking is: a bootstrap over distinct images, each with all its memberships, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from ..core import BadInput
from .ranking import places

DRAWS = 1000
LEVEL = 95  # percent


@dataclass(frozen=True)
class Ranking:
    """Strengths with their intervals, the places they may take, and who beats whom how surely."""

    strengths: Float64[np.ndarray, " models"]
    low: Float64[np.ndarray, " models"]
    high: Float64[np.ndarray, " models"]
    rank: Int64[np.ndarray, " models"]  # 1 = strongest
    best: Int64[np.ndarray, " models"]  # ends of the rank band
    worst: Int64[np.ndarray, " models"]
    beats: Float64[np.ndarray, "models models"]  # share of draws in which the row is stronger than the column

    def tied(self) -> list[tuple[int, int]]:
        """Return pairs that the images cannot tell apart at the stated level."""
        sure = LEVEL / 100 + (1 - LEVEL / 100) / 2
        models = range(len(self.strengths))
        return [(i, j) for i in models for j in models if i < j and max(self.beats[i, j], self.beats[j, i]) < sure]


def draw_weights(number: int, draws: int = DRAWS, seed: int = 0) -> Float64[np.ndarray, "draws number"]:
    """Tell how often each image, or each person, is drawn with replacement in each draw."""
    if not number:
        raise BadInput("ranking: expected at least one scored image, found none; select and score images first")
    random = np.random.default_rng(seed)
    return random.multinomial(number, np.full(number, 1 / number), size=draws).astype(np.float64)


def rank(
    strengths_of: Callable[[np.ndarray | None], np.ndarray], images: int, draws: int = DRAWS, seed: int = 0
) -> Ranking:
    """Return the ranking of `strengths_of(None)`, with the spread of `strengths_of(weights)` over bootstrap draws."""
    strengths = strengths_of(None)
    drawn = strengths_of(draw_weights(images, draws, seed))
    tail = (100 - LEVEL) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail], axis=0)
    ranks = places(drawn)
    best, worst = np.percentile(ranks, [tail, 100 - tail], axis=0, method="inverted_cdf").astype(np.int64)
    beats = (drawn[:, :, None] > drawn[:, None, :]).mean(0) + 0.5 * (drawn[:, :, None] == drawn[:, None, :]).mean(0)
    return Ranking(strengths, low, high, places(strengths), best, worst, beats)
