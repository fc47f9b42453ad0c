"""All that the report of a competition shows, as it is handed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...competition.ranking_report import RankingReport
from ..kit.naming import plural


@dataclass(frozen=True, eq=False)
class SelectedImage:
    """One selected image and what was seen on it."""

    image_id: str
    pixels: np.ndarray  # 8-bit RGB
    maps: Mapping[str, np.ndarray]  # predictions by model; -1 where void
    truth: np.ndarray | None = None  # where it is known


@dataclass(frozen=True, eq=False)
class Contested:
    """All that the report of a competition shows."""

    title: str
    ranking_report: RankingReport
    classes: Sequence[str]
    palette: tuple[tuple[int, int, int], ...]
    empty: Sequence[tuple[str, str, str]]  # defender, attacker and class without any image
    images: Sequence[SelectedImage]  # those with pictures
    provenance: Mapping[str, str]

    @property
    def headline(self) -> str:
        """Say in one sentence who leads, and how surely."""
        ranking_report = self.ranking_report
        first, main = ranking_report.order[0], ranking_report.main
        band = f"{main.best[first]} to {main.worst[first]}"
        many = f"{plural(len(ranking_report.images), 'image')} chosen for {len(ranking_report.names)} models"
        return f"{ranking_report.names[first]} leads on {many}; its rank is {band} at 95 %."


def telling(ranking_report: RankingReport) -> list[int]:
    """Order memberships: first where the two models differ most in quality, or else where they agree least."""
    scored = ranking_report.scored
    if scored is None:
        keys = np.array([member.score for member in ranking_report.members])
    else:
        keys = -np.abs(scored.defended - scored.attacked)
    order: list[int] = np.argsort(keys, kind="stable").tolist()
    return order
