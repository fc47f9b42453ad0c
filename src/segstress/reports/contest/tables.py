"""The tables of a competition: ranking, matrices, coverage and cases, people, members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...competition.cases import cases
from ...competition.matrices import Judged, coverage
from ...competition.ranking import places
from ...competition.ranking_report import RankingReport
from ...competition.raters import agreement, raters
from ..kit.table import Cell, Column, Kind, Rows, Table
from .checks import methods, metrics, without_class
from .contested import Contested


def ranking(standing: RankingReport) -> Table:
    """Models in their order: strengths with intervals, rank bands, and the rank on ordinary data beside them."""
    columns = [Column("model", "Model")]
    for name in standing.rankings:
        columns += [Column(f"{name}_rank", f"{name.capitalize()}, rank", "count"), Column(f"{name}_band", "Band")]
        columns += [Column(f"{name}_strength", "Strength", "number")]
        columns += [Column(f"{name}_{end}", end.capitalize(), "number", hidden=True) for end in ("low", "high")]
    if standing.clean:
        columns += [
            Column("clean", "Clean score", "share"),
            Column("clean_rank", "Clean rank", "count"),
            Column("change", "Change", "number"),
        ]
    return Table(
        "ranking",
        "Who wins",
        tuple(columns),
        tuple(_ranked(standing, model) for model in standing.order),
        "Strengths by maximum likelihood (Thurstone), mean 0; band: ranks in 95 % of bootstrap draws over images. "
        "The selection is taken as given and biased by design: no figure here estimates ordinary accuracy.",
    )


def _ranked(standing: RankingReport, model: int) -> tuple[Cell, ...]:
    row: list[Cell] = [standing.names[model]]
    for own in standing.rankings.values():
        row += [int(own.rank[model]), f"{own.best[model]} to {own.worst[model]}"]
        row += [float(own.strengths[model]), float(own.low[model]), float(own.high[model])]
    if standing.clean:
        scores = np.array([standing.clean.get(name, np.nan) for name in standing.names])
        known = bool(np.isfinite(scores[model]))
        clean_rank = int(places(np.nan_to_num(scores, nan=-1.0))[model])
        change = float(clean_rank - standing.main.rank[model]) if known else float("nan")
        row += [float(scores[model]), clean_rank, change]
    return tuple(row)


def beats(standing: RankingReport) -> Table:
    """How surely the model of a row is stronger than that of a column."""
    title = "Share of draws in which the row is stronger than the column"
    return _square("beats", title, standing, standing.main.beats, "share")


def matrices(standing: RankingReport) -> Iterator[Table]:
    """The matrices that the ranking was made from."""
    for name, values in standing.matrices.items():
        yield _square(name, name.capitalize(), standing, values, "number")


def _square(name: str, title: str, standing: RankingReport, values: np.ndarray, kind: Kind) -> Table:
    columns = (Column("model", "Model"), *(Column(f"to_{other}", other, kind) for other in standing.names))
    rows: Rows = tuple((own, *map(float, row)) for own, row in zip(standing.names, values, strict=True))
    return Table(name, title, columns, rows)


def pairs(names: Sequence[str], judged: Judged) -> Table:
    """Each defender and attacker: how many images were looked at, and who failed."""
    shown, images = coverage(judged)
    outcomes = cases(judged)
    columns = (
        Column("defender", "Defender"),
        Column("attacker", "Attacker"),
        *(Column(name.lower(), name, "count") for name in ("Classes", "Images")),
        *(
            Column(f"case_{number}", words, "count")
            for number, words in enumerate(("Both right", "One fails", "Both fail"), 1)
        ),
    )
    pairings = [(i, j) for i in range(judged.models) for j in range(judged.models) if i != j]
    rows: Rows = tuple(
        (names[i], names[j], int(shown[i, j]), int(images[i, j]), *map(int, outcomes[i, j])) for i, j in pairings
    )
    return Table("pairs", "Pairs and cases", columns, rows, "A model fails on an image when its mIoU is below 0.6.")


def people(standing: RankingReport) -> Iterator[Table]:
    """Who voted, how steadily, and how far they agree; nothing where nobody voted."""
    if not standing.votes:
        return
    votes: Rows = tuple(
        (rater.name, rater.votes, rater.left_share, rater.side_doubt, rater.repeats, rater.consistent)
        for rater in raters(standing.votes)
    )
    columns = (
        Column("rater", "Person"),
        Column("votes", "Votes", "count"),
        Column("left", "Chose left", "share"),
        Column("side_doubt", "Chance of that without preference", "number"),
        Column("repeats", "Repeats", "count"),
        Column("consistent", "Same answer again", "share"),
    )
    yield Table("people", "People", columns, votes)
    common: Rows = tuple((*pair, count, kappa) for pair, (count, kappa) in agreement(standing.votes).items())
    between = (
        Column("first", "One"),
        Column("second", "Other"),
        Column("questions", "Common questions", "count"),
        Column("kappa", "Cohen's kappa", "number"),
    )
    yield Table("agreement", "How far people agree", between, common)


def members(standing: RankingReport, classes: Sequence[str]) -> Table:
    """Every selected image with what it was selected for."""
    columns = (
        Column("image", "Image"),
        Column("defender", "Defender"),
        Column("attacker", "Attacker"),
        Column("class", "Class"),
        Column("agreement", "Agreement", "share"),
        Column("share", "Share of image", "share"),
        Column("defender_miou", "Defender's mIoU", "share"),
        Column("attacker_miou", "Attacker's mIoU", "share"),
    )
    judged, names = standing.judged, standing.names
    unknown = np.full(len(standing.members), np.nan)
    qualities = (unknown, unknown) if judged is None else (judged.defended, judged.attacked)
    rows: Rows = tuple(
        (m.image, names[m.defender], names[m.attacker], classes[m.class_], m.score, m.share, float(own), float(other))
        for m, own, other in zip(standing.members, *qualities, strict=True)
    )
    return Table("members", "Selected images", columns, rows)


def groups(empty: Sequence[tuple[str, str, str]]) -> Table:
    """Defender, attacker and class for which the pool holds no image."""
    columns = (Column("defender", "Defender"), Column("attacker", "Attacker"), Column("class", "Class"))
    return Table("empty", "Groups without any image", columns, tuple(empty))


def _pairs(contested: Contested) -> Table | None:
    judged = contested.standing.judged
    return None if judged is None else pairs(contested.standing.names, judged)


def _without_class(contested: Contested) -> Table | None:
    judged = contested.standing.judged
    return None if judged is None else without_class(contested.standing.names, judged, contested.classes)


TABLES: dict[str, Callable[[Contested], Table | Iterator[Table] | None]] = {
    "ranking": lambda contested: ranking(contested.standing),
    "methods": lambda contested: methods(contested.standing),
    "beats": lambda contested: beats(contested.standing),
    "matrices": lambda contested: matrices(contested.standing),
    "pairs": _pairs,
    "without-class": _without_class,
    "metrics": lambda contested: metrics(contested.standing) if contested.standing.otherwise else None,
    "people": lambda contested: people(contested.standing),
    "members": lambda contested: members(contested.standing, contested.classes),
    "empty": lambda contested: groups(contested.empty),
}
