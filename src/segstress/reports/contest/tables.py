"""The tables of a competition: ranking, matrices, coverage and cases, people, members."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...competition.cases import cases
from ...competition.matrices import Scored, coverage
from ...competition.ranking import places
from ...competition.ranking_report import RankingReport
from ...competition.raters import agreement, raters
from ..kit.table import Cell, Column, Kind, Rows, Table
from .checks import methods, metrics, without_class
from .contested import Contested


def ranking(ranking_report: RankingReport) -> Table:
    """Return models in their order: strengths with intervals, rank bands, and the rank on ordinary data beside them."""
    columns = [Column("model", "Model")]
    for name in ranking_report.rankings:
        columns += [Column(f"{name}_rank", f"{name.capitalize()}, rank", "count"), Column(f"{name}_band", "Band")]
        columns += [Column(f"{name}_strength", "Strength", "number")]
        columns += [Column(f"{name}_{end}", end.capitalize(), "number", hidden=True) for end in ("low", "high")]
    if ranking_report.clean:
        columns += [
            Column("clean", "Clean score", "share"),
            Column("clean_rank", "Clean rank", "count"),
            Column("change", "Change", "number"),
        ]
    return Table(
        "ranking",
        "Who wins",
        tuple(columns),
        tuple(_ranked(ranking_report, model) for model in ranking_report.order),
        "Strengths by maximum likelihood (Thurstone), mean 0; band: ranks in 95 % of bootstrap draws over images. "
        "The selection is taken as given and biased by design: no figure here estimates ordinary accuracy.",
    )


def _ranked(ranking_report: RankingReport, model: int) -> tuple[Cell, ...]:
    row: list[Cell] = [ranking_report.names[model]]
    for own in ranking_report.rankings.values():
        row += [int(own.rank[model]), f"{own.best[model]} to {own.worst[model]}"]
        row += [float(own.strengths[model]), float(own.low[model]), float(own.high[model])]
    if ranking_report.clean:
        scores = np.array([ranking_report.clean.get(name, np.nan) for name in ranking_report.names])
        known = bool(np.isfinite(scores[model]))
        clean_rank = int(places(np.nan_to_num(scores, nan=-1.0))[model])
        change = float(clean_rank - ranking_report.main.rank[model]) if known else float("nan")
        row += [float(scores[model]), clean_rank, change]
    return tuple(row)


def beats(ranking_report: RankingReport) -> Table:
    """Tabulate how surely the model of a row is stronger than that of a column."""
    title = "Share of draws in which the row is stronger than the column"
    return _square("beats", title, ranking_report, ranking_report.main.beats, "share", BETWEEN)


def matrices(ranking_report: RankingReport) -> Iterator[Table]:
    """Yield the matrices that the ranking was made from."""
    for name, values in ranking_report.matrices.items():
        yield _square(name, name.capitalize(), ranking_report, values, "number", BEHIND.get(name, BETWEEN))


BETWEEN = "between={row},{column}"
BEHIND = {  # the images behind a cell: those on which its row attacks, or defends
    "aggressiveness": "defender={column}&attacker={row}",
    "resistance": "defender={row}&attacker={column}",
}


def _square(name: str, title: str, ranking_report: RankingReport, values: np.ndarray, kind: Kind, behind: str) -> Table:
    """Tabulate row against column; a cell leads to its images, blue where the row is better, red where it is worse."""
    columns = (Column("model", "Model"), *(Column(f"to_{other}", other, kind) for other in ranking_report.names))
    rows: Rows = tuple((own, *map(float, row)) for own, row in zip(ranking_report.names, values, strict=True))
    known = [(int(row), int(column)) for row, column in np.argwhere(np.isfinite(values)) if row != column]
    links = {(row, column + 1): f"#images?{behind.format(row=row, column=column)}" for row, column in known}
    leads = {(row, column): _lead(values[row, column], values[column, row]) for row, column in known}
    largest = max((abs(lead) for lead in leads.values() if math.isfinite(lead)), default=0.0) or 1.0
    tints = {(row, column + 1): lead / largest for (row, column), lead in leads.items() if math.isfinite(lead)}
    return Table(name, title, columns, rows, "A cell leads to the images behind it.", links=links, tints=tints)


def _lead(own: float, other: float) -> float:
    """Tell by how much a row is better than its column, from what each has against the other."""
    return math.log(own / other) / 2 if own > 0 and other > 0 else own - other


def pairs(names: Sequence[str], scored: Scored) -> Table:
    """Return each defender and attacker: how many images were looked at, and who failed."""
    shown, images = coverage(scored)
    outcomes = cases(scored)
    columns = (
        Column("defender", "Defender"),
        Column("attacker", "Attacker"),
        *(Column(name.lower(), name, "count") for name in ("Classes", "Images")),
        *(
            Column(f"case_{number}", words, "count")
            for number, words in enumerate(("Both right", "One fails", "Both fail"), 1)
        ),
    )
    pairings = [(i, j) for i in range(scored.models) for j in range(scored.models) if i != j]
    rows: Rows = tuple(
        (names[i], names[j], int(shown[i, j]), int(images[i, j]), *map(int, outcomes[i, j])) for i, j in pairings
    )
    links = {(line, 3): f"#images?defender={i}&attacker={j}" for line, (i, j) in enumerate(pairings)}
    note = "A model fails on an image when its mIoU is below 0.6. The number of images leads to them."
    return Table("pairs", "Pairs and cases", columns, rows, note, links=links)


def people(ranking_report: RankingReport) -> Iterator[Table]:
    """Yield who voted, how steadily, and how far they agree; nothing where nobody voted."""
    if not ranking_report.votes:
        return
    votes: Rows = tuple(
        (rater.name, rater.votes, rater.left_share, rater.side_doubt, rater.repeats, rater.consistent)
        for rater in raters(ranking_report.votes)
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
    common: Rows = tuple((*pair, count, kappa) for pair, (count, kappa) in agreement(ranking_report.votes).items())
    between = (
        Column("first", "One"),
        Column("second", "Other"),
        Column("questions", "Common questions", "count"),
        Column("kappa", "Cohen's kappa", "number"),
    )
    yield Table("agreement", "How far people agree", between, common)


def members(ranking_report: RankingReport, classes: Sequence[str]) -> Table:
    """Return every selected image with what it was selected for."""
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
    scored, names = ranking_report.scored, ranking_report.names
    unknown = np.full(len(ranking_report.members), np.nan)
    qualities = (unknown, unknown) if scored is None else (scored.defended, scored.attacked)
    rows: Rows = tuple(
        (m.image, names[m.defender], names[m.attacker], classes[m.class_], m.score, m.share, float(own), float(other))
        for m, own, other in zip(ranking_report.members, *qualities, strict=True)
    )
    return Table("members", "Selected images", columns, rows)


def groups(empty: Sequence[tuple[str, str, str]]) -> Table:
    """List defender, attacker and class for which the pool holds no image."""
    columns = (Column("defender", "Defender"), Column("attacker", "Attacker"), Column("class", "Class"))
    return Table("empty", "Groups without any image", columns, tuple(empty))


def _pairs(contested: Contested) -> Table | None:
    scored = contested.ranking_report.scored
    return None if scored is None else pairs(contested.ranking_report.names, scored)


def _without_class(contested: Contested) -> Table | None:
    scored = contested.ranking_report.scored
    return None if scored is None else without_class(contested.ranking_report.names, scored, contested.classes)


TABLES: dict[str, Callable[[Contested], Table | Iterator[Table] | None]] = {
    "ranking": lambda contested: ranking(contested.ranking_report),
    "methods": lambda contested: methods(contested.ranking_report),
    "beats": lambda contested: beats(contested.ranking_report),
    "matrices": lambda contested: matrices(contested.ranking_report),
    "pairs": _pairs,
    "without-class": _without_class,
    "metrics": lambda contested: metrics(contested.ranking_report) if contested.ranking_report.otherwise else None,
    "people": lambda contested: people(contested.ranking_report),
    "members": lambda contested: members(contested.ranking_report, contested.classes),
    "empty": lambda contested: groups(contested.empty),
}
