"""All that the report of a competition shows, as it is handed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...competition.ranking_report import RankingReport
from ..kit.naming import plural
from .gallery import SelectedImage


@dataclass(frozen=True, eq=False)
class Contested:
    """All that the report of a competition shows."""

    title: str
    standing: RankingReport
    classes: Sequence[str]
    palette: tuple[tuple[int, int, int], ...]
    empty: Sequence[tuple[str, str, str]]  # defender, attacker and class without any image
    examples: Sequence[SelectedImage]  # with truth and predictions
    provenance: Mapping[str, str]

    @property
    def headline(self) -> str:
        """Say in one sentence who leads, and how surely."""
        standing = self.standing
        best = standing.names[standing.order[0]]
        band = f"{standing.main.best[standing.order[0]]} to {standing.main.worst[standing.order[0]]}"
        many = f"{plural(len(standing.images), 'image')} chosen for {len(standing.names)} models"
        return f"{best} leads on {many}; its rank is {band} at 95 %."
