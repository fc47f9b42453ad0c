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
from .runs import CLEAN, KINDS, NORMAL, SEEDS, named

FIGURE = "cmiou"  # by which a test set ranks
LEVEL = 0.05  # chance to call any pair reversed that is not
DRAWS = 5000  # on the clean side; the competition's own number on the other
TRAININGS = (*NORMAL, *(f"matched-{kind}" for kind in KINDS))
POOL = 2_000_000  # first scene of the pool for the first seed; earlier runs had those from 0 and from 1,000,000
APART = 100_000  # from there to the first for the next seed


def _contest(number: int, seed: str) -> ContestRun:
    pool = f"shapes:pool?count={{count}}&first={POOL + APART * number}&labelled=true"
    return ContestRun(
        f"competition{seed}",
        lambda images: {
            "models": named(*(training + seed for training in TRAININGS)),
            "pool": pool.format(count=40 * images),
            "scale": "pool",
        },
    )


CONTESTS = tuple(_contest(number, seed) for number, seed in enumerate(SEEDS))
Doubts = Mapping[tuple[str, str], float]  # of pairs of trainings: the worse on clean images, and the better
Ranking = Mapping[str, Any]  # of one competition


@claims.register("06-competition")
class RankingChange:
    """The competition's ranking differs from the ranking by clean images."""

    needs: ClassVar[tuple[Need, ...]] = (CLEAN, *CONTESTS)

    def answer(self, evidence: Evidence) -> Answer:
        """Look for pairs of trainings of which one is surely better clean and surely worse in every competition."""
        assessments, rankings = evidence.assessments(CLEAN), [evidence.ranking(contest) for contest in CONTESTS]
        checks = [_check(role, rankings, assessments) for role in rankings[0]["rankings"]]
        return Answer(tuple(checks), (_table(rankings, assessments),), (_drawing(rankings),))


def training(model: str) -> str:
    """Return a model's training: its name without the seed."""
    return model.partition("-seed-")[0]


def _check(role: str, rankings: Sequence[Ranking], assessments: Mapping[str, Assessment]) -> Check:
    similar = [_likeness(role, ranking, assessments) for ranking in rankings]
    by_seed = [reversals(ranking["models"], ranking["beats"][role], assessments) for ranking in rankings]
    doubts = on_every_seed(by_seed)
    sure = holm(doubts)
    shown = "; ".join(f"{better} before {worse}" for better, worse in sure[:3]) or "none"
    more = f" and {len(sure) - 3} more" if len(sure) > 3 else ""
    alone = ", ".join(str(len(holm(one))) for one in by_seed)
    return Check(
        f"By {role} some trainings are surely ordered otherwise than by clean CmIoU in the competition of every seed,"
        " corrected for the number of pairs",
        f"{shown}{more}, of {len(doubts)} pairs (Holm, {percent(LEVEL)} %); by seed alone {alone} pairs; rank"
        f" correlation {', '.join(f'{value:.2f}' for value in similar)} over {len(TRAININGS)} models",
        bool(sure),
    )


def _likeness(role: str, ranking: Ranking, assessments: Mapping[str, Assessment]) -> float:
    clean = [assessments[name].score(FIGURE) for name in ranking["models"]]
    strengths = [ranking["rankings"][role][name]["strength"] for name in ranking["models"]]
    return float(rank_correlation(clean, strengths)[0])


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
        doubt = max(2 * _chance(clean.doubt, DRAWS), _chance(1 - beats[low][other], CONTEST_DRAWS))
        doubts[training(pair[0]), training(pair[1])] = doubt
    return doubts


def _chance(share: float, draws: int) -> float:
    """Never say that what no draw shows is impossible."""
    return (share * draws + 1) / (draws + 1)


def on_every_seed(by_seed: Sequence[Doubts]) -> dict[tuple[str, str], float]:
    """Return the largest doubt of each pair: a seed that orders it otherwise on clean images is no witness."""
    return {pair: max(doubts.get(pair, 1.0) for doubts in by_seed) for pair in by_seed[0]}


def holm(doubts: Doubts) -> list[tuple[str, str]]:
    """Return the pairs that stay sure when all of them were looked at (Holm 1979), the surest first."""
    ordered = sorted(doubts, key=lambda pair: doubts[pair])
    sure = takewhile(lambda item: doubts[item[1]] <= LEVEL / (len(ordered) - item[0]), enumerate(ordered))
    return [pair for _, pair in sure]


def _table(rankings: Sequence[Ranking], assessments: Mapping[str, Assessment]) -> Table:
    roles = list(rankings[0]["rankings"])
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
    rows = []
    for ranking in rankings:
        order = sorted(ranking["models"], key=lambda name: -assessments[name].score(FIGURE))
        for position, name in enumerate(order, start=1):
            results = [ranking["rankings"][role][name] for role in roles]
            places = [cell for result in results for cell in (result["rank"], "{} to {}".format(*result["band"]))]
            rows.append((name, assessments[name].clean_interval(FIGURE), position, *places))
    constant = assessments[rows[0][0]].constant(FIGURE)
    note = (
        f"Clean: ordinary test images, on which one class everywhere would have {100 * constant:.1f} %. Competition:"
        " images of another distribution on which the models disagree most, judged by their masks. Each seed has a"
        " competition and a pool of its own, with places among its own models."
    )
    return Table("ranking", "Two rankings, seed by seed", columns, tuple(rows), note)


def _drawing(rankings: Sequence[Ranking]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {}
    for ranking in rankings:
        for role, results in ranking["rankings"].items():
            for name, result in results.items():
                rows.setdefault(name, {})[role] = Interval(result["strength"], *result["interval"])
    caption = "Strength in the competition of its seed with 95 % intervals over its images; 0: mean of its models."
    return points(Words("ranking", "Strength in the competition", caption, "strength"), rows, 0.0, unit=1)
