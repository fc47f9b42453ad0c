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
    ranking_report: RankingReport
    classes: Sequence[str]
    palette: tuple[tuple[int, int, int], ...]
    empty: Sequence[tuple[str, str, str]]  # defender, attacker and class without any image
    examples: Sequence[SelectedImage]  # with truth and predictions
    provenance: Mapping[str, str]

    @property
    def headline(self) -> str:
        """Say in one sentence who leads, and how surely."""
        ranking_report = self.ranking_report
        first, main = ranking_report.order[0], ranking_report.main
        band = f"{main.best[first]} to {main.worst[first]}"
        many = f"{plural(len(ranking_report.images), 'image')} chosen for {len(ranking_report.names)} models"
        return f"{ranking_report.names[first]} leads on {many}; its rank is {band} at 95 %."
