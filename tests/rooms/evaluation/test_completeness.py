"""A worst case over images that were not all answered says what it lacks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from segstress.cli.main import app
from segstress.evaluation import evaluate
from segstress.evaluation.local_report import spatial_report
from segstress.evaluation.minimal_report import report as minimal_report
from segstress.evaluation.report import figures, report
from segstress.planning.minimal import specs
from segstress.results.run import Run
from segstress.runtime import RunOptions, Store

PLAN = {
    "models": ["compact:cnn-normal"],
    "data": ["shapes:test?count=3&size=32"],
    "perturbations": ["pgd?steps=2", "segpgd?steps=2"],
    "eps": "8/255",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("complete") / "run"
    evaluate(PLAN, folder, RunOptions(workers=1))
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def one(folder: Path) -> dict:
    (single,) = figures([folder])["runs"]
    return single


def folders_of(run: Path, name: str) -> list[Path]:
    store = Store(run)
    return [run / "cells" / cell.key for cell in store.cells() if cell.names["perturbation"].startswith(name)]


def test_complete_run_is_called_so(run: Path) -> None:
    whole = one(run)
    assert whole["complete"] is True
    assert whole["unanswered"] == whole["left_out"] == 0
    assert whole["worst_case_range"]["accuracy"] == [whole["worst_case"]["accuracy"]] * 2
    assert whole["alarms"] == []


def test_two_runs_of_one_question_stand_side_by_side(run: Path, tmp_path: Path) -> None:
    again = Path(shutil.copytree(run, tmp_path / "again"))
    both = figures([run, again])
    assert [study["model"] for study in both["runs"]] == ["cnn-normal (run)", "cnn-normal (again)"]
    (pair,) = both["pairs"]
    assert pair["accuracy"]["value"] == 0
    assert "cnn-normal (again)" in report([run, again], tmp_path / "page").read_text()


def test_deleted_cell_is_missed(run: Path) -> None:
    before = one(run)["worst_case"]["accuracy"]
    for folder in folders_of(run, "pgd"):
        shutil.rmtree(folder)
    lacking = one(run)
    low, high = lacking["worst_case_range"]["accuracy"]
    assert (lacking["complete"], lacking["unanswered"]) == (False, 3)
    assert low == 0
    assert low <= before <= high
    assert "INCOMPLETE" in lacking["alarms"][0]
    page = report([run])
    assert "INCOMPLETE" in page.read_text()
    assert "is left out" not in page.read_text()  # no table or figure failed for it
    done = CliRunner().invoke(app, ["report", str(run), "--json"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["runs"][0]["complete"] is False


def test_every_attack_failed_is_not_unharmed(run: Path) -> None:
    for folder in [*folders_of(run, "pgd"), *folders_of(run, "segpgd")]:
        for path in folder.iterdir():
            if path.name != "cell.json":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    nothing = one(run)
    assert (nothing["complete"], nothing["unanswered"]) == (False, 3)
    assert nothing["worst_case_range"]["accuracy"] == [0, nothing["clean"]["accuracy"]]


def test_image_without_a_clean_answer_is_named(run: Path) -> None:
    for folder in folders_of(run, "clean"):
        for path in folder.iterdir():
            if path.name != "cell.json":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    done = CliRunner().invoke(app, ["report", str(run)])
    assert done.exit_code != 0


def test_resuming_answers_what_was_deleted(run: Path) -> None:
    before = one(run)
    for folder in folders_of(run, "pgd"):
        shutil.rmtree(folder)
    evaluate(PLAN, run, RunOptions(workers=1))
    assert one(run) == before


def test_spared_images_are_not_missed(tmp_path: Path) -> None:
    (tmp_path / "battery.yaml").write_text('perturbations: ["pgd?steps=40", "pgd?steps=41"]\n')
    plan = {**PLAN, "perturbations": [], "battery": str(tmp_path / "battery.yaml"), "eps": "64/255", "done_at": 0.9}
    evaluate(plan, tmp_path / "run", RunOptions(workers=1))
    spared = one(tmp_path / "run")
    assert min(attack["images"] for attack in spared["perturbations"].values()) < 3
    assert spared["complete"] is True


def test_pages_of_smallest_changes_and_of_damage_name_what_is_gone(tmp_path: Path) -> None:
    searches = specs(["fmn-auto?steps=2", "ddn-auto?steps=2"], [0.9])
    damage = ["brightness?severity=3", "fog?severity=3"]
    cases = [
        (searches, "ddn", lambda folder: minimal_report(folder)[1]),
        (damage, "fog", lambda folder: spatial_report(Run(folder))),
    ]
    for number, (perturbations, gone, write) in enumerate(cases):
        folder = tmp_path / str(number)
        plan = {**PLAN, "perturbations": perturbations}
        plan.pop("eps")
        evaluate(plan, folder, RunOptions(workers=1))
        assert "INCOMPLETE" not in write(folder).read_text()
        for cell in folders_of(folder, gone):
            shutil.rmtree(cell)
        assert "INCOMPLETE: nothing is stored of cnn-normal" in write(folder).read_text()
