"""The tables of a competition: ranking, matrices, coverage and cases, people, members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...competition.cases import cases
from ...competition.matrices import Judged, coverage
from ...competition.ranking import places
from ...competition.ranking_report import Standing
from ...competition.raters import agreement, raters
from ..kit.table import Cell, Column, Kind, Rows, Table
from .checks import methods, metrics, without_class


def tables(standing: Standing, classes: Sequence[str], empty: Sequence[tuple[str, str, str]]) -> list[Table]:
    """Every table that the judge gives data for."""
    found = [
        ranking(standing),
        methods(standing),
        beats(standing),
        *(matrix(standing, name) for name in standing.matrices),
    ]
    if standing.judged is not None:
        found += [pairs(standing.names, standing.judged), without_class(standing.names, standing.judged, classes)]
    if standing.otherwise:
        found.append(metrics(standing))
    if standing.votes:
        found += list(people(standing))
    return [*found, members(standing, classes), groups(empty)]


def ranking(standing: Standing) -> Table:
    """Models in their order: strengths with intervals, rank bands, and the rank on ordinary data beside them."""
    columns = [Column("model", "Model")]
    for name in standing.rankings:
        columns += [Column(f"{name}_rank", f"{name.capitalize()}, place", "count"), Column(f"{name}_band", "Band")]
        columns += [Column(f"{name}_{part}", part.capitalize(), "number") for part in ("strength", "low", "high")]
    if standing.clean:
        columns += [
            Column("clean", "Clean score", "share"),
            Column("clean_rank", "Clean place", "count"),
            Column("change", "Change", "number"),
        ]
    return Table(
        "ranking",
        "Who wins",
        tuple(columns),
        tuple(_ranked(standing, model) for model in standing.order),
        "Strengths by maximum likelihood (Thurstone), mean 0; band: places of 95 % of bootstrap draws over images. "
        "The selection is taken as given and biased by design: no figure here estimates ordinary accuracy.",
    )


def _ranked(standing: Standing, model: int) -> tuple[Cell, ...]:
    row: list[Cell] = [standing.names[model]]
    for found in standing.rankings.values():
        row += [int(found.rank[model]), f"{found.best[model]} to {found.worst[model]}"]
        row += [float(found.strengths[model]), float(found.low[model]), float(found.high[model])]
    if standing.clean:
        scores = np.array([standing.clean.get(name, np.nan) for name in standing.names])
        known = bool(np.isfinite(scores[model]))
        place = int(places(np.nan_to_num(scores, nan=-1.0))[model])
        change = float(place - standing.main.rank[model]) if known else float("nan")
        row += [float(scores[model]), place, change]
    return tuple(row)


def beats(standing: Standing) -> Table:
    """How surely the model of a row is stronger than that of a column."""
    found = standing.main.beats
    return _square("beats", "Share of draws in which the row is stronger than the column", standing, found, "share")


def matrix(standing: Standing, name: str) -> Table:
    """One of the matrices that the ranking was made from."""
    return _square(name, name.capitalize(), standing, standing.matrices[name], "number")


def _square(name: str, title: str, standing: Standing, values: np.ndarray, kind: Kind) -> Table:
    columns = (Column("model", "Model"), *(Column(f"to_{other}", other, kind) for other in standing.names))
    rows: Rows = tuple((own, *map(float, row)) for own, row in zip(standing.names, values, strict=True))
    return Table(name, title, columns, rows)


def pairs(names: Sequence[str], judged: Judged) -> Table:
    """Each defender and attacker: how much was looked at, and who failed."""
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


def people(standing: Standing) -> Iterator[Table]:
    """Who voted, how steadily, and how far they agree."""
    votes: Rows = tuple(
        (each.name, each.votes, each.left_share, each.side_doubt, each.repeats, each.consistent)
        for each in raters(standing.votes)
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


def members(standing: Standing, classes: Sequence[str]) -> Table:
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
