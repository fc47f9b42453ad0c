"""The commands of the competition, one after the other, and what they say when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from segstress.contests.compete import reopen
from segstress.contests.voting import open_session
from segstress.data import load
from segstress.models import load as load_model
from segstress.voting.session import Decision
from segstress.voting.trial_list import sign

POOL = "shapes:pool?count=12&size=32&labelled=true"
MODELS = [word for seed in range(2) for word in ("--model", f"compact:cnn?seed={seed}")]
FAST = ("--workers", "1")


def begin(segstress) -> None:
    said = segstress("mad", "index", "--pool", POOL, *MODELS, "--out", "run", "--scale", "none", *FAST)
    assert said.code == 0, said.err
    assert "ok: 12 images" in said.out


def test_an_image_that_cannot_be_read_is_named_and_the_others_go_on(segstress, tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    pool.mkdir()
    for number in range(3):
        pixels = np.random.default_rng(number).integers(0, 256, size=(32, 32, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(pool / f"{number}.png")
    (pool / "2.png").write_bytes((pool / "2.png").read_bytes()[:50])
    spec = f"folder:{pool}?images=.&masks=none"
    said = segstress("mad", "index", "--pool", spec, *MODELS, "--out", "run", "--scale", "none", *FAST)
    assert said.code == 1
    assert "ok: 2 images" in said.out
    assert "error: 2: " in said.out + said.err
    assert segstress("mad", "predict", "run", *FAST).code == 0


def select(segstress) -> None:
    begin(segstress)
    for step in ("predict", "compare"):
        assert segstress("mad", step, "run", *FAST).code == 0
    said = segstress("mad", "select", "run")
    assert "groups empty" in said.out


def test_every_step_is_a_command(segstress) -> None:
    select(segstress)
    said = segstress("mad", "rank", "run", "--draws", "20", "--also", "mpa", "--json", *FAST)
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert len(found["models"]) == 2
    assert found["otherwise"]["mpa"]["images"] > 0
    assert segstress("mad", "export", "run", "--to", "out", "--format", "png", "--prefill", "masks").code == 0
    said = segstress("mad", "import", "run", "--from", "out", "--format", "png")
    assert (said.code, "0 missing" in said.out) == (0, True)
    said = segstress("mad", "rank", "run", "--draws", "20", "--judge", "labels")
    assert Path("run/report/index.html").exists()
    assert segstress("mad", "add", "run", "--model", "compact:cnn?seed=2", *FAST).code == 0
    assert len(reopen(Path("run")).names) == 3


def test_the_demo_runs_in_one_command(segstress) -> None:
    said = segstress("mad", "demo", "--count", "10", *FAST)
    assert said.code == 0, said.err
    assert "Place (band) and strength" in said.out
    assert said.out.count("Spearman's correlation with images selected by") == 2
    assert Path("runs/mad-demo/report/index.html").exists()


def test_the_labelled_set_can_be_trained_on(segstress) -> None:
    select(segstress)
    segstress("mad", "export", "run", "--to", "out", "--format", "png", "--prefill", "masks")
    segstress("mad", "import", "run", "--from", "out", "--format", "png")
    assert segstress("mad", "export", "run", "--to", "set", "--format", "png", "--prefill", "labels").code == 0
    data = load("folder:set?classes=classes.txt&ignore=255")
    competition = reopen(Path("run"))
    assert sorted(data.ids()) == sorted({member.image for member in competition.members()})
    sample, mask = data.read(data.ids()[0]), competition.images().mask(data.ids()[0])
    np.testing.assert_array_equal(sample.labels.numpy(), mask)
    own = "folder:set?classes=classes.txt&ignore=255"
    how = ("--recipe", "normal", "--start", "compact:cnn-normal", "--epochs", "1", "--batch-size", "2")
    said = segstress(
        "train", *how, "--data", own, "--validation", own, "--out", "tuned", "--save-as", "own.safetensors"
    )
    assert said.code == 0, said.err
    before, after = (load_model(spec).state_dict() for spec in ("compact:cnn-normal", "checkpoint:own.safetensors"))
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_one_model_competes_with_copies_of_itself(segstress) -> None:
    how = ("--pool", POOL, "--model", "compact:cnn", "--out", "run", "--scale", "none", *FAST)
    assert "try --copies" in segstress("mad", "index", *how).err
    assert segstress("mad", "index", *how, "--copies", "2").code == 0
    assert reopen(Path("run")).names == ["cnn", "cnn-pruned-0.2-0", "cnn-pruned-0.2-1"]


def test_label_sets_are_joined_by_a_file(segstress) -> None:
    Path("classes.yaml").write_text(
        "classes: [ground, thing]\nbackground: ground\n"
        "models:\n  cnn: [ground, thing, thing, thing, thing, thing, thing]\n"
        "pool: [ground, thing, thing, thing, thing, thing, thing]\n"
    )
    models = ("--model", "compact:cnn", "--model", "compact:transformer?classes=2")
    how = ("mad", "index", "--pool", POOL, *models, "--out", "run", "--scale", "none", *FAST)
    assert "transformer has 2 outputs, expected 7" in segstress(*how).err
    assert segstress(*how, "--classes", "classes.yaml").code == 0
    for step in ("predict", "compare"):
        assert segstress("mad", step, "run", *FAST).code == 0
    segstress("mad", "select", "run")
    said = segstress("mad", "rank", "run", "--draws", "20", "--json")
    assert set(json.loads(said.out)["rankings"]["aggressiveness"]) == {"cnn", "transformer"}


def test_votes_of_the_page_rank_and_reject(segstress) -> None:
    select(segstress)
    competition = reopen(Path("run"))
    session = open_session(competition, "choose")
    trials = session.deal("kim").trials
    for number, trial in enumerate(trials):
        choice = "reject" if number == 0 else ("left" if trial.shown[0] == "cnn" else "right")
        session.take("kim", Decision(id=str(number), trial=trial.id, choice=choice))
    ranking_report = competition.rank("votes", draws=20)
    assert ranking_report.names[ranking_report.order[0]] == "cnn"
    assert any("prior" in note for note in ranking_report.notes)
    selection = competition.select()
    assert trials[0].image not in selection.images
    assert open_session(competition, "choose").secret == session.secret
    assert Path("run/judge.json").stat().st_mode & 0o777 == 0o600
    assert "cnn" not in json.dumps(session.trial_list("kim", server=True))


def test_static_page_and_back(segstress) -> None:
    select(segstress)
    said = segstress("mad", "judge", "run", "--static", "page", "--rater", "kim", "--mode", "screen")
    assert said.code == 0, said.err
    session = open_session(reopen(Path("run")), "screen")
    trial, signature = session.deal("kim").trials[0], sign(session.secret, "kim")
    event = {"id": "a", "trial": trial.id, "choice": "reject", "reason": "other"}
    Path("d.json").write_text(json.dumps({"mode": "screen", "rater": "kim", "signature": signature, "events": [event]}))
    said = segstress("mad", "judge", "run", "--votes", "d.json", "--mode", "screen")
    assert "1 new decisions" in said.out
    reopen(Path("run")).select()
    assert not any(
        m.image == trial.image and reopen(Path("run")).vocabulary.classes[m.class_] == trial.classes[0]
        for m in reopen(Path("run")).members()
    )


def test_labels_found_wrong_do_not_judge(segstress) -> None:
    select(segstress)
    segstress("mad", "export", "run", "--to", "out", "--prefill", "masks")
    segstress("mad", "import", "run", "--from", "out")
    competition = reopen(Path("run"))
    before = len(competition.rank("labels", draws=10).images)
    session = open_session(competition, "review")
    trial = session.deal("kim").trials[0]
    session.take("kim", Decision(id="a", trial=trial.id, choice="reject"))
    assert len(competition.rank("labels", draws=10).images) == before - 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mad", "predict", "nowhere"), "begin with segstress mad index"),
        (("mad", "rank", "run"), "has no selection"),
        (("mad", "predict", "run"), "has no index"),
        (("mad", "judge", "run"), "has no selection"),
    ],
)
def test_steps_out_of_order_say_what_to_do(segstress, words: tuple[str, ...], message: str) -> None:
    if words[2] == "run":
        begin(segstress)
        if words[1] == "predict":
            Path("run/index.parquet").unlink()
    said = segstress(*words)
    assert said.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_missing_source_and_a_wrong_prefill_are_refused(segstress) -> None:
    select(segstress)
    assert "does not exist" in segstress("mad", "import", "run", "--from", "nothing").err
    assert "prefill" in segstress("mad", "export", "run", "--to", "out", "--prefill", "nobody").err
    assert "unknown format" in segstress("mad", "export", "run", "--to", "out", "--format", "word").err
