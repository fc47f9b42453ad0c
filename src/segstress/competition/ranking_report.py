"""The outcome of a competition, as the last step hands it over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float64

from .cases import rank_correlation
from .matrices import Scored
from .select import Member
from .uncertainty import Ranking
from .votes import Vote

ScoredBy = Literal["masks", "labels", "votes"]


@dataclass(frozen=True, eq=False)
class RankingReport:
    """Who wins and how surely; what was measured on the way."""

    names: Sequence[str]  # of the models, in their order
    scored_by: ScoredBy
    members: Sequence[Member]  # those that could be scored
    images: Sequence[str]  # the scored ones, in the order of `quality`
    rankings: Mapping[str, Ranking]  # aggressiveness and resistance; of votes overall, attack and defence
    others: Mapping[str, Float64[np.ndarray, " models"]]  # strengths by other methods, as a check
    matrices: Mapping[str, Float64[np.ndarray, "models models"]]
    notes: Sequence[str] = ()
    scored: Scored | None = None  # with masks or labels
    quality: Float64[np.ndarray, "images models"] | None = None  # mIoU against the truth
    votes: Sequence[Vote] = ()
    clean: Mapping[str, float] = field(default_factory=dict)  # score of each model on ordinary test data
    otherwise: Mapping[str, RankingReport] = field(default_factory=dict)  # had another metric selected the images

    @property
    def main(self) -> Ranking:
        """The ranking that decides the order of tables."""
        return next(iter(self.rankings.values()))

    @property
    def order(self) -> list[int]:
        """Models from the strongest to the weakest, equal ones by name."""
        return sorted(range(len(self.names)), key=lambda model: (-self.main.strengths[model], self.names[model]))

    def correlation(self, other: RankingReport) -> dict[str, tuple[float, float]]:
        """Return Spearman's and Kendall's rank correlation of each ranking with the other's of the same models."""
        return {
            name: rank_correlation(own.strengths.tolist(), other.rankings[name].strengths.tolist())
            for name, own in self.rankings.items()
        }
