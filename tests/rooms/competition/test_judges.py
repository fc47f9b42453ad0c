"""Who judges a competition: labels of annotators on their way out and back, and votes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from contests import compete
from PIL import Image

from segstress.competition.votes import Vote
from segstress.contests.competition import Competition
from segstress.contests.labels import export, take_back
from segstress.contests.rank import VOTES
from segstress.core import BadInput, to_plain


def test_labels_of_annotators_judge_as_masks_do(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run")
    field, members = competition.images(), competition.members()
    count = export(field, members, "labelme", tmp_path / "out", prefill="masks")
    back = take_back(field, members, "labelme", tmp_path / "out")
    assert (back.taken, len(back.unchanged), back.missing, back.faults) == (count, count, [], [])
    by_labels, by_masks = (competition.rank(judge, draws=10) for judge in ("labels", "masks"))
    np.testing.assert_allclose(by_labels.matrices["resistance"], by_masks.matrices["resistance"])


def test_import_reports_what_is_missing_changed_or_wrong(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run")
    field, members = competition.images(), competition.members()
    out = tmp_path / "out"
    export(field, members, "png", out, prefill=competition.names[0])
    paths = sorted((out / "masks").glob("*.png"))
    paths[0].unlink()
    mask = Image.open(paths[1])
    mask.putpixel((0, 0), (mask.getpixel((0, 0)) + 1) % 7)
    mask.save(paths[1])
    Image.new("L", (3, 3)).save(paths[2])
    Image.new("L", (32, 32)).save(out / "masks" / "stranger.png")
    back = take_back(field, members, "png", out)
    assert back.missing == [paths[0].stem, paths[2].stem]
    assert paths[1].stem not in back.unchanged
    assert sorted(fault.split(":")[0] for fault in back.faults) == sorted([paths[2].stem, "stranger"])


def test_an_empty_ballot_that_nobody_touched_is_no_label(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run")
    field, members = competition.images(), competition.members()
    count = export(field, members, "labelme", tmp_path / "out")
    back = take_back(field, members, "labelme", tmp_path / "out")
    assert (back.taken, len(back.missing)) == (0, count)


def test_fiftyone_folder_is_written(tmp_path: Path) -> None:
    done = compete(tmp_path / "run")
    assert export(done.images(), done.members(), "fiftyone", tmp_path / "out") == len(
        list((tmp_path / "out" / "data").iterdir())
    )


def cast(competition: Competition, strengths: list[float], images: int = 10_000) -> None:
    """Votes of a person who prefers the stronger model most of the time."""
    random = np.random.default_rng(0)
    asked = {(m.image, frozenset((m.defender, m.attacker))) for m in competition.members()}
    lines = []
    for number, (image, pair) in enumerate(sorted((image, tuple(sorted(pair))) for image, pair in asked)):
        first, second = pair
        chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
        choice = "left" if random.random() < chance else "right"
        vote = Vote(
            id=str(number),
            image=image,
            left=competition.names[first],
            right=competition.names[second],
            choice=choice,
            rater="kim",
        )
        lines.append(json.dumps(to_plain(vote)))
    (competition.folder / VOTES).write_text("\n".join(lines[:images]) + "\n")


def test_votes_are_a_judge(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run")
    cast(competition, [4, 0, -4])
    ranking_report = competition.rank("votes", draws=50)
    assert ranking_report.rankings["overall"].rank.tolist() == [1, 2, 3]
    assert set(ranking_report.rankings) == {"overall", "attack", "defence"}


def test_disconnected_votes_are_refused(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run")
    cast(competition, [0, 0, 0], images=1)
    with pytest.raises(BadInput, match="cannot rank"):
        competition.rank("votes")
