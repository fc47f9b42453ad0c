"""A gate that a run passes or not: thresholds, another run, and whether the run is whole at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from segstress.core import BadInput
from segstress.evaluation import evaluate
from segstress.evaluation.gate import falls, read_thresholds
from segstress.evaluation.report import studies
from segstress.runtime import RunOptions

DATA = "shapes:test?count=6&size=32"


def make(folder: Path, model: str, **changes: object) -> Path:
    plan = {"models": [model], "data": [DATA], "perturbations": ["pgd?steps=3"], "eps": "8/255"}
    evaluate({**plan, **changes}, folder, RunOptions(workers=1))
    return folder


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("gate") / "weak", "compact:cnn-normal")


@pytest.fixture(scope="module")
def sturdy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("gate") / "sturdy", "compact:cnn-pgd-at-100")


def check(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the gate as a continuous integration does: in a process of its own."""
    command = [sys.executable, "-c", "import sys; from segstress.cli.main import main; main(sys.argv[1:])", "check"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True, env=environment)


def test_a_worst_case_below_its_threshold_is_one_line_and_exit_code_1(weak: Path) -> None:
    done = check(weak, "--fail-under", "accuracy=0.99", "--fail-under", "nmiou=0")
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    assert len(lines) == 1
    assert "accuracy is" in lines[0]
    assert "below 99.00 %" in lines[0]


def test_what_keeps_its_thresholds_passes(weak: Path) -> None:
    done = check(weak, "--fail-under", "accuracy=0")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_wrong_requests_are_refused_in_one_line(weak: Path) -> None:
    with pytest.raises(BadInput, match="unknown figure 'acuracy'; did you mean 'accuracy'"):
        read_thresholds(["acuracy=0.4"])
    with pytest.raises(BadInput, match="expected figure=share"):
        read_thresholds(["accuracy"])
    with pytest.raises(BadInput, match="between 0 and 1"):
        read_thresholds(["accuracy=40"])
    done = check(weak, "--fail-under", "acuracy=0.4")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert check(weak, "--worse-by", "1").returncode == 2


def test_behind_another_run_only_when_the_whole_interval_is(weak: Path, sturdy: Path) -> None:
    ours, theirs = studies([weak]), studies([sturdy])
    assert {fall.figure for fall in falls(ours, {}, theirs, 1.0)} >= {"nmiou"}
    assert not list(falls(theirs, {}, ours, 1.0))
    assert not list(falls(ours, {}, ours, 0.0)), "equal runs are not behind each other"
    assert not list(falls(ours, {}, theirs, 100.0))


def test_images_are_paired_by_name(weak: Path, sturdy: Path, tmp_path: Path) -> None:
    """A run over fewer images is compared on those; in another order it is the same."""
    fewer = studies([make(tmp_path / "fewer", "compact:cnn-normal", limit=4)])
    assert not list(falls(fewer, {}, studies([weak]), 0.0)), "the same images are equal in both runs"


def test_json_says_the_same(weak: Path, sturdy: Path) -> None:
    done = check(weak, "--against", sturdy, "--worse-by", "1", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert told["passed"] is False
    assert {fall["figure"] for fall in told["falls"]} >= {"nmiou"}


def test_a_run_that_is_not_whole_does_not_pass(weak: Path) -> None:
    (study,) = studies([weak])
    outcome = study.outcomes[0]
    answered = outcome.answered.copy()
    answered[0] = False
    hole = replace(study, outcomes=(replace(outcome, answered=answered),))
    assert [fall.words[:10] for fall in falls([hole], {})] == ["INCOMPLETE"]
    assert "the baseline: INCOMPLETE" in next(falls([study], {}, [hole], 100.0)).words
    assert "seal.json" in next(falls([replace(study, damage=("seal.json is missing",))], {})).words


def test_nothing_to_compare_with_is_said(weak: Path, sturdy: Path) -> None:
    (study,), (other,) = studies([weak]), studies([sturdy])
    with pytest.raises(BadInput, match="expected one study"):
        list(falls([study], {}, [replace(other, threat="linf 4/255")]))
    with pytest.raises(BadInput, match="no image"):
        list(falls([study], {}, [replace(other, ids=tuple(f"x{id_}" for id_ in other.ids))]))
