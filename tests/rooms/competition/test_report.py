"""The report of a competition: every table and figure, from masks and from votes."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from segstress.competition.matrices import Scored, aggressiveness, performance, resistance
from segstress.competition.ranking import fit
from segstress.competition.ranking_report import RankingReport
from segstress.competition.select import Member
from segstress.competition.uncertainty import rank
from segstress.competition.votes import Vote, tally
from segstress.contests.report import compare_rankings, summary
from segstress.core import BadInput
from segstress.reports.contest.checks import without_class
from segstress.reports.contest.contested import Contested, SelectedImage
from segstress.reports.contest.page import write_competition
from segstress.reports.contest.tables import matrices
from segstress.reports.contest.verdict import points, verdict

NAMES = ["good", "fair", "<poor>"]
CLASSES = ["ground", "cat", "dog"]
QUALITY = {"good": 0.8, "fair": 0.6, "<poor>": 0.3}


def members() -> list[Member]:
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    return [Member(f"{n:016x}", *pair, 1 + n % 2, 0, 0.1 + n / 100, 0.2) for n, pair in enumerate(pairs * 4)]


def by_truth(clean: dict[str, float]) -> RankingReport:
    random, chosen = np.random.default_rng(0), members()
    quality = np.clip(list(QUALITY.values()) + random.normal(0, 0.1, (len(chosen), 3)), 0, 1)
    place = np.arange(len(chosen))
    defenders, attackers, classes = (
        np.array([getattr(m, key) for m in chosen]) for key in ("defender", "attacker", "class_")
    )
    scored = Scored(3, place, defenders, attackers, classes, quality[place, defenders], quality[place, attackers])
    found = performance(scored)
    matrices = {"aggressiveness": aggressiveness(found), "resistance": resistance(found)}
    rankings = {
        name: rank(lambda w: fit(aggressiveness(performance(scored, w))), scored.distinct, 50) for name in matrices
    }
    others = {"bradley-terry": fit(matrices["aggressiveness"], "bradley-terry")}
    images = [member.image for member in chosen]
    return RankingReport(
        NAMES, "masks", chosen, images, rankings, others, matrices, ["a note"], scored, quality, clean=clean
    )


def by_votes() -> RankingReport:
    votes = [
        Vote(
            id=f"{m.image}{rater}",
            image=m.image,
            left=NAMES[m.defender],
            right=NAMES[m.attacker],
            rater=rater,
            choice="left",
        )
        for m in members()
        for rater in ("kim", "lee")
    ]
    cast = tally(votes, members(), NAMES)
    ranking = rank(lambda weights: fit(cast.overall(weights), prior=0.1), cast.distinct, 20)
    return RankingReport(NAMES, "votes", members(), [], {"overall": ranking}, {}, {"wins": cast.overall()}, votes=votes)


def contested(ranking_report: RankingReport) -> Contested:
    labels = np.array([[0, 1], [2, -1]])
    maps = {"good": labels, "fair": labels[::-1], "<poor>": labels}
    example = SelectedImage("0" * 16, np.zeros((2, 2, 3), dtype=np.uint8), maps, labels)
    palette = ((0, 0, 0), (200, 0, 0), (0, 200, 0))
    return Contested("test", ranking_report, CLASSES, palette, [("good", "fair", "dog")], [example], {"seed": "0"})


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{table}.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_report_of_masks_is_complete(tmp_path: Path) -> None:
    page = write_competition(contested(by_truth({"good": 0.7, "fair": 0.9, "<poor>": 0.5})), tmp_path).read_text()
    assert "good leads on 24 images chosen for 3 models" in page
    assert "&lt;poor&gt;" in page
    assert "<poor>" not in page
    ranking = rows(tmp_path, "ranking")
    assert [row["model"] for row in ranking] == NAMES
    assert [(row["clean_rank"], float(row["change"])) for row in ranking] == [("2", 1), ("1", -1), ("3", 0)]
    assert sum(int(row[f"case_{case}"]) for row in rows(tmp_path, "pairs") for case in (1, 2, 3)) == 24
    assert {row["class"] for row in rows(tmp_path, "without-class")} == {"cat", "dog"}
    assert float(rows(tmp_path, "methods")[-1]["spearman"]) == 1
    assert len(rows(tmp_path, "members")) == 24
    assert rows(tmp_path, "empty") == [{"defender": "good", "attacker": "fair", "class": "dog"}]
    figures = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert figures == {"strengths", "matrices", "qualities", "transfer"}
    assert len(list((tmp_path / "gallery").glob("*.png"))) == 2 + 3 + 1, "image, truth, every model, the difference"


def test_a_cell_of_a_matrix_leads_to_the_images_behind_it(tmp_path: Path) -> None:
    """Aggressiveness of row over column: the row attacks, the column defends; of resistance the other way round."""
    found = contested(by_truth({}))
    page = write_competition(found, tmp_path).read_text()
    aggressiveness, resistance = (table for table in matrices(found.ranking_report))
    assert aggressiveness.links[0, 2] == "#images?defender=1&attacker=0"
    assert resistance.links[0, 2] == "#images?defender=0&attacker=1"
    assert (0, 1) not in aggressiveness.links, "no model competes with itself"
    assert aggressiveness.tints[0, 3] == -aggressiveness.tints[2, 1] == 1, "the strongest lead of all"
    assert 'href="#images?defender=1&amp;attacker=0"' in page
    known = json.loads((tmp_path / "gallery" / "contest.js").read_text().partition(" = ")[2].rstrip(";\n"))
    assert [row[0] for row in known["models"]] == NAMES
    assert len(known["members"]) == 24
    assert {row[1] for row in known["members"]} == {-1, 0}, "one image has pictures, the others say that they have none"


def test_the_verdict_marks_what_is_open() -> None:
    found = contested(by_truth({}))
    assert verdict(found.ranking_report).startswith("good (strength ")
    marked = {point.name: point.good for point in points(found)}
    assert marked == {"Scored by": True, "Lead": True, "Methods": True, "Classes": False, "Coverage": False}
    words = next(point.words for point in points(found) if point.name == "Classes")
    ranks = {row[0]: row[1] for row in without_class(NAMES, found.ranking_report.scored, CLASSES).rows}
    assert all((name in words) == (rank != 1) for name, rank in ranks.items()), "as the table of ranks says"


def test_the_report_of_votes_shows_the_people(tmp_path: Path) -> None:
    write_competition(contested(by_votes()), tmp_path)
    assert [(row["rater"], row["votes"], row["left"]) for row in rows(tmp_path, "people")] == [
        ("kim", "24", "1"),
        ("lee", "24", "1"),
    ]
    assert rows(tmp_path, "agreement")[0]["questions"] == "24"
    assert {path.stem for path in (tmp_path / "figures").glob("*.svg")} == {"strengths", "matrices"}


def test_other_metrics_stand_beside_the_ranking(tmp_path: Path) -> None:
    ranking_report = by_truth({})
    names = {name: replace(found, strengths=-found.strengths) for name, found in ranking_report.rankings.items()}
    names["aggressiveness"] = ranking_report.rankings["aggressiveness"]
    beside = replace(ranking_report, otherwise={"fwiou": replace(ranking_report, rankings=names, images=["a", "b"])})
    write_competition(contested(beside), tmp_path)
    (row,) = rows(tmp_path, "metrics")
    assert (row["metric"], row["images"]) == ("fwiou", "2")
    assert [float(row[f"{name}_spearman"]) for name in names] == pytest.approx([1, -1])
    assert summary(beside)["otherwise"]["fwiou"]["correlation"]["resistance"] == pytest.approx([-1, -1])


def test_standings_can_be_compared(tmp_path: Path) -> None:
    plain = summary(by_truth({}))
    for name, sign in (("a", 1), ("b", -1)):
        for entry in plain["rankings"]["aggressiveness"].values():
            entry["strength"] *= sign
        (tmp_path / name / "report").mkdir(parents=True)
        (tmp_path / name / "report" / "ranking.json").write_text(json.dumps(plain))
    found = compare_rankings([tmp_path / "a", tmp_path / "b"])
    assert found["a and b"]["aggressiveness"] == pytest.approx(-1)
    assert found["a and b"]["resistance"] == pytest.approx(1)
    with pytest.raises(BadInput, match="has not been ranked"):
        compare_rankings([tmp_path / "a", tmp_path / "c"])


def test_a_missing_value_is_null() -> None:
    ranking_report = by_truth({})
    ranking_report.matrices["resistance"][0, 1] = np.nan
    assert json.loads(json.dumps(summary(ranking_report), allow_nan=False))["matrices"]["resistance"][0][1] is None
