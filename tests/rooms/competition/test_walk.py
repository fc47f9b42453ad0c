"""A whole competition on a small pool: every step, resuming, adding a model, joining label sets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from contests import MODELS, QUIET, compete, rows

from segstress.contests import plan, store
from segstress.contests.compete import add, begin, reopen, walk
from segstress.contests.competition import Competition
from segstress.contests.plan import read_contest
from segstress.contests.screening import screen
from segstress.core import BadInput
from segstress.core.files import write
from segstress.runtime import RunOptions, parquet

PLUGIN = """
from segstress.core import settings
from segstress.models.compact import Compact
from segstress.models.model import models

@models.register("mine")
@settings
class Mine(Compact):
    name: str = "transformer"
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Competition:
    return compete(tmp_path_factory.mktemp("mad") / "run")


def test_the_flow_ends_with_a_ranking(done: Competition) -> None:
    ranking_report = done.rank("masks", draws=50)
    assert sorted(ranking_report.names) == sorted(done.names)
    for ranking in ranking_report.rankings.values():
        assert np.isfinite(ranking.strengths).all()
        assert ranking.strengths.sum() == pytest.approx(0)
    assert {row["defender"] for row in rows(done.folder)} <= set(done.names)


def test_plug_ins_reach_worker_processes(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.py"
    plugin.write_text(PLUGIN)
    contest = read_contest(
        {
            "models": ["mine", MODELS[0]],
            "pool": "shapes:pool?count=4&size=16",
            "shard_size": 2,
            "plugins": [str(plugin)],
        }
    )
    competition = begin(contest, tmp_path / "run")
    competition.index(QUIET, RunOptions(workers=1))
    assert competition.predict(QUIET, RunOptions(workers=2)) == []


def test_models_of_one_label_get_names_of_their_own(done: Competition) -> None:
    assert len(set(done.names)) == 3
    assert done.names[0] == "cnn"


def test_adding_a_model_equals_a_fresh_run_and_computes_only_its_own(tmp_path: Path) -> None:
    grown = compete(tmp_path / "grown", models=MODELS[:2])
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "grown" / "models").rglob("*") if path.is_file()}
    added = add(grown.folder, MODELS[2:])
    walk(added, QUIET, RunOptions(workers=1))
    after = {path: path.stat().st_mtime_ns for path in before}
    assert before == after
    fresh = compete(tmp_path / "fresh")
    assert rows(added.folder) == rows(fresh.folder)
    first, second = (each.rank("masks", draws=20) for each in (added, fresh))
    np.testing.assert_array_equal(first.matrices["aggressiveness"], second.matrices["aggressiveness"])
    np.testing.assert_array_equal(first.rankings["resistance"].strengths, second.rankings["resistance"].strengths)


def test_a_stopped_run_goes_on_where_it_was(done: Competition, tmp_path: Path) -> None:
    other = compete(tmp_path / "run")
    victims = (
        sorted((other.folder / "models").rglob("rows-*.parquet"))[::2] + sorted(other.folder.rglob("pairs-*"))[::3]
    )
    for victim in victims:
        victim.unlink()
    (other.folder / "members.parquet").unlink()
    walk(reopen(other.folder), QUIET, RunOptions(workers=1))
    assert rows(other.folder) == rows(done.folder)


@pytest.mark.parametrize("after", [0, 3, 8, 13])
def test_a_full_disk_or_a_crash_at_any_file_loses_nothing_else(
    after: int, done: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def fail(path: Path, data: bytes) -> None:
        if len(written) == after:
            raise BadInput("the disk is full")
        written.append(path)
        write(path, data)

    for writer in (store, parquet):
        monkeypatch.setattr(writer, "write", fail)
    with pytest.raises(BadInput, match="full"):
        compete(tmp_path / "run")
    monkeypatch.undo()
    walk(reopen(tmp_path / "run"), QUIET, RunOptions(workers=1))
    assert rows(tmp_path / "run") == rows(done.folder)


def test_reopening_loads_no_model(done: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "load_model", None)
    again = reopen(done.folder)
    assert (again.entrants, again.vocabulary) == (done.entrants, done.vocabulary)


def test_a_folder_of_an_earlier_version_is_opened(done: Competition, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(done.folder, folder)
    kept = json.loads((folder / "entrants.json").read_text())
    entrants = [{"print": entrant.pop("fingerprint"), **entrant} for entrant in kept.pop("entrants")]
    earlier = {"field": entrants, "words": kept.pop("vocabulary"), **kept}
    (folder / "field.json").write_text(json.dumps(earlier))
    (folder / "entrants.json").unlink()
    assert reopen(folder).entrants == done.entrants
    assert reopen(folder).vocabulary == done.vocabulary
    assert begin(read_contest(folder), folder).entrants == done.entrants


@pytest.mark.parametrize("metric", ["fwiou", "mpa", "dice", "class_iou"])
def test_every_metric_selects(metric: str, tmp_path: Path) -> None:
    assert rows(compete(tmp_path / metric, metric=metric).folder)


@pytest.mark.parametrize("metric", ["fwiou", "class_iou"])
def test_ranking_by_another_metric_equals_a_competition_by_it(metric: str, tmp_path: Path) -> None:
    competition = compete(tmp_path / "one")
    chosen = rows(competition.folder)
    beside = competition.rank_by(metric, "masks", 20, QUIET, RunOptions(workers=1))
    alone = compete(tmp_path / "other", metric=metric).rank("masks", draws=20)
    np.testing.assert_array_equal(beside.matrices["aggressiveness"], alone.matrices["aggressiveness"])
    assert [member.image for member in beside.members] == [member.image for member in alone.members]
    assert rows(competition.folder) == chosen
    with pytest.raises(BadInput, match="nobody has voted"):
        competition.rank_by(metric, "votes", 20, QUIET)


@pytest.mark.parametrize("scale", ["pool", "shapes:train?count=6&size=32", "table"])
def test_every_scale_selects(scale: str, tmp_path: Path) -> None:
    table = tmp_path / "scale.yaml"
    table.write_text("disc: [0.0, 0.9]\n")
    spec = str(table) if scale == "table" else scale
    assert rows(compete(tmp_path / "run", scale=spec).folder)


def test_rejected_images_give_way(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run")
    first = rows(competition.folder)[0]
    screen(competition.folder, [{"image": first["image"], "class": "", "keep": False, "reason": "drawing"}])
    competition.select()
    assert first["image"] not in {row["image"] for row in rows(competition.folder)}
    screen(competition.folder, [{"image": first["image"], "class": "", "keep": True}])
    competition.select()
    assert first in rows(competition.folder)


def test_a_model_can_compete_with_its_own_copies(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run", models=MODELS[:1], copies=2)
    assert competition.names == ["cnn", "cnn-pruned-0.2-0", "cnn-pruned-0.2-1"]
    assert rows(competition.folder)


def test_different_label_sets_are_joined(tmp_path: Path) -> None:
    words = tmp_path / "classes.yaml"
    words.write_text(
        "classes: [ground, thing]\nbackground: ground\n"
        "models:\n  cnn: [ground, thing, thing, thing, thing, thing, null]\n  transformer: {0: ground, 2: thing}\n"
    )
    models = ["compact:cnn", "compact:transformer?classes=3"]
    pool = "shapes:pool?count=8&size=32&labelled=true"
    with pytest.raises(BadInput, match="has 3 outputs, expected 7"):
        compete(tmp_path / "a", models=models, pool=pool)
    competition = compete(tmp_path / "b", models=models, pool=pool, classes=str(words))
    assert {row["class"] for row in rows(competition.folder)} <= {"thing"}
    with pytest.raises(BadInput, match="under 'pool'"):
        competition.rank("masks")
    words.write_text(words.read_text() + "pool: [ground, thing, thing, thing, thing, thing, thing]\n")
    again = begin(competition.contest, competition.folder)
    assert again.rank("masks", draws=10).names == ["cnn", "transformer"]
