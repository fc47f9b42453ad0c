"""Objects and pixels attacked alone, from the command line to figures, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import net

from segstress.evaluation import evaluate
from segstress.evaluation.report import figures
from segstress.evaluation.verify import verify
from segstress.planning import read_plan
from segstress.runtime import RunOptions, Store

MODEL, DATA = "compact:cnn-normal", "shapes:test?count=3&size=48"
COMMON = ("--model", MODEL, "--data", DATA, "--eps", "4/255")
PLAN = {"models": [MODEL], "data": [DATA], "eps": "4/255", "objects": True, "pixels": 12, "alone": "momentum?steps=4"}


def fresh(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-c", "from segstress.cli.main import main; main()", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with one joint attack, all objects and some pixels."""
    place = tmp_path_factory.mktemp("floors")
    words = ("--attack", "pgd?steps=4", "--objects", "--pixels", "12", "--alone", "momentum?steps=8")
    done = fresh(place, "attack", *COMMON, *words, "--workers", "1", "--out", "run")
    assert done.returncode == 0, done.stderr
    assert "objects lost" in done.stdout
    assert "pixels robust" in done.stdout
    return place / "run"


def test_figures_agree_with_the_stored_objects(run):
    said = fresh(run.parent, "report", "run", "--json")
    alone = json.loads(said.stdout)["runs"][0]["alone"]
    store = Store(run)
    cells = {cell.perturbation["parts"]: cell for cell in store.cells() if cell.perturbation["kind"] == "alone"}
    rows = store.table(cells["objects"], "objects").to_pylist()
    assert len(rows) == sum(line["objects"] for line in alone["by_class"]) > 5
    assert alone["objects_lost"]["alone"]["value"] == pytest.approx(
        sum(2 * row["correct"] < row["area"] for row in rows) / len(rows)
    )
    assert alone["objects_erased"]["alone"]["value"] == pytest.approx(
        sum(row["correct"] == 0 for row in rows) / len(rows)
    )
    counts = [row for row in store.table(cells["pixels"], "counts").to_pylist() if row["zone"] == "sampled"]
    assert sum(row["actual"] for row in counts if row["state"] == "clean") == 3 * 12
    right = sum(row["hits"] for row in counts if row["state"] == "perturbed")
    assert alone["pixels_robust"]["alone"]["value"] == pytest.approx(right / 36)
    for name, more in (("objects_lost", 1), ("objects_erased", 1), ("pixels_robust", -1)):
        clean, after = (alone[name][state] for state in ("clean", "alone"))
        assert more * after["value"] > more * clean["value"]
        assert after["low"] <= after["value"] <= after["high"]
    assert "upper bounds" in alone["definition"]


def test_verify_attacks_parts_again_and_judges_what_was_kept(run):
    verdicts = {verdict.cell: verdict for verdict in verify(run)}
    assert all(verdict.sound for verdict in verdicts.values())
    parts = [verdict for name, verdict in verdicts.items() if " alone by " in name]
    assert all(verdict.repeated for verdict in parts)
    assert sum(verdict.checked for verdict in parts) >= 1  # an erased object that was kept


def test_verify_finds_a_kept_object_that_is_not_erased(run, monkeypatch):
    honest = Store.batches

    def forged(store, cell, name, ids=None):
        for arrays in honest(store, cell, name, ids):
            if name == "kept" and cell.perturbation["kind"] == "alone":
                clean = {key.partition("|")[2]: image for key, image in store.arrays(_clean(store), "kept").items()}
                arrays = {key: clean[key.partition("|")[2]] for key in arrays}
            yield arrays

    monkeypatch.setattr(Store, "batches", forged)
    faults = [fault for verdict in verify(run) for fault in verdict.faults]
    assert any("pixels of the object are right" in fault for fault in faults)


def _clean(store):
    return next(cell for cell in store.cells() if cell.perturbation["kind"] == "clean")


def test_a_run_of_parts_alone_resumes_to_the_same_figures(tmp_path):
    """Answered in two goes, by two workers in shards of one; beside it in one go."""
    plan = PLAN | {"numerics": {"batch_size": 1}}  # an image that was answered alone rounds otherwise among others
    whole = evaluate(read_plan(plan), tmp_path / "whole", RunOptions(workers=1, shard_size=4)).folder
    evaluate(read_plan(plan | {"limit": 1}), tmp_path / "parts", RunOptions(workers=1))
    parts = evaluate(read_plan(plan), tmp_path / "parts", RunOptions(workers=2, shard_size=1)).folder
    one, two = (figures([folder]) for folder in (whole, parts))
    assert one == two
    assert one["runs"][0]["alone"]["objects_lost"]["joint"]["value"] is None  # there was no joint attack


def test_objects_can_be_added_to_a_run_and_leave_its_worst_case(segstress, tmp_path):
    words = ("attack", "--model", net("tiny"), "--data", "shapes:test?count=2&size=48", "--eps", "8/255")
    ways = ("--attack", "pgd?steps=2", "--workers", "1", "--out", "run")
    assert segstress(*words, *ways).code == 0
    before = figures([tmp_path / "run"])["runs"][0]
    assert segstress(*words, *ways, "--objects", "--alone", "pgd?steps=2", "--norm", "linf").code == 0
    (after,) = figures([tmp_path / "run"])["runs"]
    assert after["worst_case"] == before["worst_case"]
    assert after["alone"]["by_class"]


def test_erased_objects_are_shown_only_beside_a_kept_clean_image(tmp_path, monkeypatch):
    """Objects are added with --keep-images to a run that had kept no picture."""
    joint = PLAN | {"perturbations": ["pgd?steps=1"], "objects": False, "pixels": None, "limit": 2}
    monkeypatch.setattr(sys.modules["segstress.evaluation.run"], "GALLERY", 0)
    evaluate(read_plan(joint), tmp_path / "run", RunOptions(workers=1))
    evaluate(read_plan(joint | {"objects": True, "keep_images": True}), tmp_path / "run", RunOptions(workers=1))
    (found,) = figures([tmp_path / "run"])["runs"]
    assert found["alone"]["objects_erased"]["alone"]["value"] > found["alone"]["objects_erased"]["clean"]["value"]


def test_plan_counts_the_parts(segstress):
    from segstress.data import load
    from segstress.metrics.objects import objects

    said = segstress("plan", *COMMON, "--objects", "--pixels", "12", "--alone", "momentum?steps=4")
    assert said.code == 0
    data = load(DATA)
    samples = [data.read(id_) for id_ in data.ids()]
    pieces = sum(len(objects(s.labels.numpy(), s.valid.numpy(), data.background).classes) for s in samples)
    for parts in (pieces, 36):
        assert f" {6 * parts} " in said.out, said.out  # four steps, the clean image and the last iterate
        assert f" {4 * parts} " in said.out


def test_l2_and_several_radii_make_a_study_each(tmp_path):
    asked = PLAN | {"eps": "0.5,1", "norm": "l2", "pixels": None, "limit": 1}
    runs = figures([evaluate(read_plan(asked), tmp_path / "run", RunOptions(workers=1)).folder])["runs"]
    assert [run["eps"] for run in runs] == [0.5, 1]
    assert all(run["alone"]["objects_lost"]["alone"]["value"] is not None for run in runs)
