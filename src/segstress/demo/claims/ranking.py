"""Claim 6: images on which models disagree rank them otherwise than a test set does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, takewhile
from typing import Any, ClassVar

from ...competition.cases import rank_correlation
from ...competition.uncertainty import DRAWS as CONTEST_DRAWS
from ...metrics.intervals import Interval, difference
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check
from ...reports.kit.drawing import Drawing
from ...reports.kit.naming import percent
from ...reports.kit.table import Column, Table
from ...reports.study.assessment import Assessment, metric_of
from .claim import claims
from .evidence import ContestRun, Evidence, Need
from .runs import ANNEALED, CLEAN, HALVES, WHOLES, matched, named

FIGURE = "cmiou"  # by which a test set ranks
LEVEL = 0.05  # chance to call any pair reversed that is not
DRAWS = 5000  # on the clean side; the competition's own number on the other
MODELS = (
    "cnn-normal",
    "transformer-normal",
    "unet-normal",
    *(matched(kind)[0] for kind in (*HALVES, *WHOLES, ANNEALED)),
)
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
        checks = [_check(role, contest, assessments) for role in contest["rankings"]]
        return Answer(tuple(checks), (_table(contest, assessments),), (_drawing(contest),))


def _check(role: str, contest: Mapping[str, Any], assessments: Mapping[str, Assessment]) -> Check:
    names, ranking = contest["models"], contest["rankings"][role]
    clean = [assessments[name].score(FIGURE) for name in names]
    similar = rank_correlation(clean, [ranking[name]["strength"] for name in names])[0]
    doubts = reversals(names, contest["beats"][role], assessments)
    sure = holm(doubts)
    shown = "; ".join(f"{better} before {worse}" for better, worse in sure[:3]) or "none"
    more = f" and {len(sure) - 3} more" if len(sure) > 3 else ""
    return Check(
        f"By {role} some models are surely ordered otherwise than by clean CmIoU, corrected for the number of pairs",
        f"{shown}{more}, of {len(doubts)} pairs (Holm, {percent(LEVEL)} %); rank correlation {similar:.2f} over"
        f" {len(names)} models",
        bool(sure),
    )


def reversals(
    names: Sequence[str], beats: Sequence[Sequence[float]], assessments: Mapping[str, Assessment]
) -> dict[tuple[str, str], float]:
    """Return for every pair, the worse on clean images first, the chance of such figures if it were not reversed.

    Both must be sure, that the other is better clean, either way round, and that the first wins the competition."""
    doubts = {}
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        left, right = (assessments[name].counts(FIGURE)[0] for name in (first, second))
        clean = difference(left, right, metric_of(FIGURE), draws=DRAWS)
        (low, other), pair = ((i, j), (first, second)) if clean.value < 0 else ((j, i), (second, first))
        doubts[pair] = max(2 * _chance(clean.doubt, DRAWS), _chance(1 - beats[low][other], CONTEST_DRAWS))
    return doubts


def _chance(share: float, draws: int) -> float:
    """Never say that what no draw shows is impossible."""
    return (share * draws + 1) / (draws + 1)


def holm(doubts: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """Return the pairs that stay sure when all of them were looked at (Holm 1979), the surest first."""
    ordered = sorted(doubts, key=lambda pair: doubts[pair])
    sure = takewhile(lambda item: doubts[item[1]] <= LEVEL / (len(ordered) - item[0]), enumerate(ordered))
    return [pair for _, pair in sure]


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
        " images of another distribution on which the models disagree most, judged by their masks. An earlier run used"
        " the same pool, with other models."
    )
    return Table("ranking", "Two rankings", columns, tuple(rows), note)


def _drawing(contest: Mapping[str, Any]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {name: {} for name in contest["models"]}
    for role, ranking in contest["rankings"].items():
        for name, result in ranking.items():
            rows[name][role] = Interval(result["strength"], *result["interval"])
    caption = "Strength in the competition with 95 % intervals over its images; 0 is the mean of all models."
    return points(Words("ranking", "Strength in the competition", caption, "strength"), rows, 0.0, unit=1)
