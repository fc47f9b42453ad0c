"""Claim 6: images on which models disagree rank them otherwise than a test set does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any, ClassVar

from ...competition.cases import rank_correlation
from ...metrics.intervals import Interval, difference
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Column, Table
from ...reports.study.assessment import Assessment, metric_of
from .claim import claims
from .evidence import ContestRun, Evidence, Need
from .runs import CLEAN, MODELS, named

FIGURE = "cmiou"  # by which a test set ranks
MAD = ContestRun(
    "competition",
    lambda images: {
        "models": named(*MODELS),
        "pool": f"shapes:pool?count={10 * images}&labelled=true",
        "scale": "pool",
    },
)


@claims.register("6-competition")
class RankingChange:
    """The competition's ranking differs from the ranking by clean images."""

    needs: ClassVar[tuple[Need, ...]] = (CLEAN, MAD)

    def answer(self, evidence: Evidence) -> Answer:
        """Look for pairs of models of which one is surely better clean and surely worse in the competition."""
        assessments, contest = evidence.assessments(CLEAN), evidence.ranking(MAD)
        checks = [_check(role, ranking, assessments) for role, ranking in contest["rankings"].items()]
        return Answer(tuple(checks), (_table(contest, assessments),), (_drawing(contest),))


def _check(role: str, ranking: Mapping[str, Any], assessments: Mapping[str, Assessment]) -> Check:
    names = list(ranking)
    clean = [assessments[name].score(FIGURE) for name in names]
    similar = rank_correlation(clean, [ranking[name]["strength"] for name in names])[0]
    turned = list(_turned(ranking, assessments))
    shown = "; ".join(f"{better} before {worse}" for better, worse in turned[:3]) or "none"
    more = f" and {len(turned) - 3} more" if len(turned) > 3 else ""
    return Check(
        f"By {role} some models are surely ordered otherwise than by clean CmIoU",
        f"{shown}{more}; rank correlation {similar:.2f} over {len(names)} models",
        bool(turned),
    )


def _turned(ranking: Mapping[str, Any], assessments: Mapping[str, Assessment]) -> Iterator[tuple[str, str]]:
    """Yield pairs whose first is surely stronger in the competition and surely weaker on clean images."""
    for first, second in permutations(ranking, 2):
        left, right = (assessments[name].counts(FIGURE)[0] for name in (first, second))
        apart = ranking[first]["interval"][0] > ranking[second]["interval"][1]
        if apart and difference(left, right, metric_of(FIGURE)).high < 0:
            yield first, second


def _table(contest: Mapping[str, Any], assessments: Mapping[str, Assessment]) -> Table:
    roles = list(contest["rankings"])
    columns = (
        Column("model", "Model"),
        Column(FIGURE, "CmIoU, clean", "interval"),
        Column("clean_place", "Place, clean", "count"),
        *(
            column
            for role in roles
            for column in (Column(f"{role}_place", f"Place, {role}", "count"), Column(f"{role}_band", "Band at 95 %"))
        ),
    )
    order = sorted(contest["models"], key=lambda name: -assessments[name].score(FIGURE))
    rows = []
    for position, name in enumerate(order, start=1):
        results = [contest["rankings"][role][name] for role in roles]
        places = [cell for result in results for cell in (result["rank"], "{} to {}".format(*result["band"]))]
        rows.append((name, assessments[name].clean_interval(FIGURE), position, *places))
    constant = assessments[order[0]].constant(FIGURE)
    note = (
        f"Clean: ordinary test images, on which one class everywhere would have {100 * constant:.1f} %. Competition:"
        " images of another distribution on which the models disagree most, judged by their masks."
    )
    return Table("ranking", "Two rankings", columns, tuple(rows), note)


def _drawing(contest: Mapping[str, Any]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {name: {} for name in contest["models"]}
    for role, ranking in contest["rankings"].items():
        for name, result in ranking.items():
            rows[name][role] = Interval(result["strength"], *result["interval"])
    caption = "Strength in the competition with 95 % intervals over its images; 0 is the mean of all models."
    return points(Words("ranking", "Strength in the competition", caption, "strength"), rows, 0.0, unit=1)
