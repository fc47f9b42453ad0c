"""The first screen of a competition: who leads, how surely, and what the order hangs on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...competition.cases import rank_correlation
from ...competition.matrices import Scored, aggressiveness, performance
from ...competition.ranking import fit, places
from ...competition.ranking_report import RankingReport
from ..kit.naming import percent, plural
from ..kit.verdict import Point
from .contested import Contested

SURE = 0.95  # share of draws, and rank correlation, from which on an order is called sure


def verdict(ranking: RankingReport) -> str:
    """Say in one paragraph who leads, over whom, and in how many of the draws."""
    order, main = ranking.order, ranking.main
    names = [ranking.names[model] for model in order]
    if len(order) < 2:
        return f"{names[0]} competes alone, so there is no order."
    surely = percent(float(main.beats[order[0], order[1]]))
    strength = f"strength {main.strengths[order[0]]:.2f} ({main.low[order[0]]:.2f} to {main.high[order[0]]:.2f})"
    whole = f" From the strongest to the weakest: {', '.join(names)}." if len(names) > 2 else ""
    return f"{names[0]} ({strength}) is stronger than {names[1]} in {surely} % of the draws of images.{whole}"


def points(contested: Contested) -> Iterator[Point]:
    """Yield what the order rests on, and what would change it."""
    ranking = contested.ranking_report
    order, main = ranking.order, ranking.main
    by = {"masks": "the pool's masks", "labels": "imported labels", "votes": "votes"}[ranking.scored_by]
    yield Point(
        "Scored by", f"{by}; {plural(len(ranking.images), 'image')}, selected {len(ranking.members)} times", good=True
    )
    if len(order) > 1:
        sure = float(main.beats[order[0], order[1]])
        yield Point("Lead", f"holds in {percent(sure)} % of the draws", good=sure >= SURE)
    if ranking.others:
        agree = [rank_correlation(main.strengths.tolist(), other.tolist())[0] for other in ranking.others.values()]
        words = f"orders by {plural(len(agree), 'other method')} correlate by {min(agree):.2f} at least (Spearman)"
        yield Point("Methods", words, good=min(agree) >= SURE)
    if ranking.scored is not None:
        yield _one_class(ranking.scored, order[0], contested.classes)
    empty = len(contested.empty)
    yield Point(
        "Coverage", f"{plural(empty, 'group')} of defender, attacker and class without any image", good=not empty
    )


def _one_class(scored: Scored, leader: int, classes: Sequence[str]) -> Point:
    """Say whether the leader leads without the subsets of any one class."""
    rests = {class_: scored.without_class(class_) for class_ in np.unique(scored.classes).tolist()}
    lost = [
        class_
        for class_, rest in rests.items()
        if len(rest.images) and places(fit(aggressiveness(performance(rest))))[leader] != 1
    ]
    names = ", ".join(classes[class_] for class_ in lost)
    words = f"without {names} another model leads" if lost else "the leader leads without any one of them"
    return Point("Classes", words, good=not lost)
