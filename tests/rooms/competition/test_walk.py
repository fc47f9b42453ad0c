"""A whole competition on a small pool: every step, resuming, adding a model, labels and votes as judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from segstress.competition.votes import Vote
from segstress.core import BadInput, to_plain
from segstress.jobs import Progress
from segstress.jobs.mad import plan, store
from segstress.jobs.mad.compete import Competition, add, begin, reopen, walk
from segstress.jobs.mad.labels import export, take_back
from segstress.jobs.mad.plan import read_contest
from segstress.jobs.mad.rank import VOTES
from segstress.jobs.mad.screening import screen
from segstress.jobs.mad.store import read_table
from segstress.runtime import write

QUIET = Progress()
POOL = "shapes:pool?count=20&size=32&labelled=true"
MODELS = [f"compact:cnn?seed={seed}" for seed in range(3)]
NETS = Path(__file__).parents[2] / "nets.py"
FUSSY = """
import torch
from torch import nn

class Fussy(nn.Module):
    calls = 0
    def forward(self, images):
        Fussy.calls += 1
        if Fussy.calls == 5:
            raise RuntimeError("does not like it")
        return torch.cat([images, images, images[:, :1]], 1)

def net():
    return Fussy()
"""
PLUGIN = """
from segstress.core import settings
from segstress.models.compact import Compact
from segstress.models.model import models

@models.register("mine")
@settings
class Mine(Compact):
    name: str = "transformer"
"""


def compete(folder: Path, **changes: Any) -> Competition:
    asked = {"models": MODELS, "pool": POOL, "scale": "none", "shard_size": 8} | changes
    competition = begin(read_contest(asked), folder)
    walk(competition, QUIET, workers=1)
    return competition


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Competition:
    return compete(tmp_path_factory.mktemp("mad") / "run")


def rows(folder: Path) -> list[dict[str, Any]]:
    return read_table(folder / "members.parquet").to_pylist()


def test_the_flow_ends_with_a_ranking(done: Competition) -> None:
    standing = done.rank("masks", draws=50)
    assert sorted(standing.names) == sorted(done.names)
    for ranking in standing.rankings.values():
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
    competition.index(QUIET, workers=1)
    assert competition.predict(QUIET, workers=2) == []


def test_models_of_one_label_get_names_of_their_own(done: Competition) -> None:
    assert len(set(done.names)) == 3
    assert done.names[0] == "cnn"


def test_adding_a_model_equals_a_fresh_run_and_computes_only_its_own(tmp_path: Path) -> None:
    grown = compete(tmp_path / "grown", models=MODELS[:2])
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "grown" / "models").rglob("*") if path.is_file()}
    added = add(grown.folder, MODELS[2:])
    walk(added, QUIET, workers=1)
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
    walk(reopen(other.folder), QUIET, workers=1)
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

    monkeypatch.setattr(store, "write", fail)
    with pytest.raises(BadInput, match="full"):
        compete(tmp_path / "run")
    monkeypatch.undo()
    walk(reopen(tmp_path / "run"), QUIET, workers=1)
    assert rows(tmp_path / "run") == rows(done.folder)


def test_reopening_loads_no_model(done: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "load_model", None)
    again = reopen(done.folder)
    assert (again.field, again.words) == (done.field, done.words)


@pytest.mark.parametrize("metric", ["fwiou", "mpa", "dice", "class_iou"])
def test_every_metric_selects(metric: str, tmp_path: Path) -> None:
    assert rows(compete(tmp_path / metric, metric=metric).folder)


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


def test_fiftyone_folder_is_written(done: Competition, tmp_path: Path) -> None:
    assert export(done.images(), done.members(), "fiftyone", tmp_path) == len(list((tmp_path / "data").iterdir()))


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
    standing = competition.rank("votes", draws=50)
    assert standing.rankings["overall"].rank.tolist() == [1, 2, 3]
    assert set(standing.rankings) == {"overall", "attack", "defence"}


def test_disconnected_votes_are_refused(tmp_path: Path) -> None:
    competition = compete(tmp_path / "run")
    cast(competition, [0, 0, 0], images=1)
    with pytest.raises(BadInput, match="cannot rank"):
        competition.rank("votes")


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": MODELS[:1]}, "at least two different models"),
        ({"models": [MODELS[0], MODELS[0]]}, "at least two different models"),
        ({"metric": "iou"}, "unknown concordance"),
        ({"scale": "nowhere.yaml"}, "cannot be read"),
    ],
)
def test_bad_requests_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        compete(tmp_path / "run", **changes)


def test_an_empty_selection_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "scale.yaml"
    names = ("disc", "square", "triangle", "cross", "ring", "striped")
    table.write_text("".join(f"{name}: [0.9995, 0.9998]\n" for name in names))
    with pytest.raises(BadInput, match="the selection is empty"):
        compete(tmp_path / "run", scale=str(table))


def test_a_prediction_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="logits at"):
        compete(tmp_path / "run", models=[MODELS[0], f"factory:{NETS}:coarse"])


def test_an_image_that_a_model_cannot_answer_is_left_out_of_its_pairs(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    for number in range(6):
        pixels = np.random.default_rng(number).integers(1, 256, size=(32, 32, 3)).astype(np.uint8)
        pixels[0, 0] = 255 if number else 0
        Image.fromarray(pixels).save(folder / f"{number}.png")
    source = tmp_path / "fussy.py"
    source.write_text(FUSSY)
    pool = f"folder:{folder}?images=.&masks=none"
    models = [*MODELS[:2], f"factory:{source}:net"]
    competition = begin(read_contest({"models": models, "pool": pool, "scale": "none"}), tmp_path / "run")
    _, faults = walk(competition, QUIET, workers=1)
    assert len(faults) == 1
    assert "does not like it" in faults[0]
    bad = faults[0].split(" on ")[1].split(":")[0]
    assert bad not in {row["image"] for row in rows(competition.folder) if "net" in (row["defender"], row["attacker"])}
    part = competition.store.parts()[0]
    scores = competition.store.scores(competition.field, part, "miou", 7)[part.images.index(bad)]
    assert np.isfinite(scores[0, 1])
    assert np.isnan(scores[2, :2]).all()
    competition.predict(QUIET, workers=1, retry_errors=True)
    competition.compare(QUIET, workers=1)
    assert np.isfinite(competition.store.scores(competition.field, part, "miou", 7)[:, 2, 0]).all()


def test_a_folder_keeps_its_competition(done: Competition) -> None:
    with pytest.raises(BadInput, match="another competition"):
        begin(read_contest({**to_plain(done.contest), "metric": "dice"}), done.folder)
    with pytest.raises(BadInput, match="another competition"):
        begin(read_contest({**to_plain(done.contest), "models": MODELS[::-1]}), done.folder)


def test_unreadable_and_repeated_images_are_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(4):
        Image.fromarray(random.integers(256, size=(32, 32, 3)).astype(np.uint8)).save(folder / f"{number}.png")
    (folder / "copy.png").write_bytes((folder / "0.png").read_bytes())
    (folder / "broken.png").write_bytes((folder / "1.png").read_bytes()[:50])
    pool = f"folder:{folder}?images=.&masks=none"
    competition = compete(tmp_path / "run", pool=pool, background=0)
    status = {row["name"]: row["status"] for row in competition.store.index.to_pylist()}
    assert status == {"0": "ok", "1": "ok", "2": "ok", "3": "ok", "broken": "error", "copy": "duplicate"}
    with pytest.raises(BadInput, match="no selected image has masks"):
        competition.rank("masks")
