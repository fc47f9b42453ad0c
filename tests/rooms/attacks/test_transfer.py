"""Stored images replayed on another model: the contract of every attack, and the walk from run to run."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from tests.conftest import net

from segstress.attacks import Attack, attacks
from segstress.core import BadInput, Threat
from segstress.data.packed_arrays import pack
from segstress.evaluation import evaluate
from segstress.evaluation.report import figures
from segstress.evaluation.verify import verify
from segstress.runtime import RunOptions, Store
from segstress.testing import CHECKS, toy_batch, toy_model
from segstress.testing.contract import RADIUS

ALONE = RunOptions(workers=1)
DATA = "shapes:test?count=3&size=24"


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """A transfer attack whose images were made for the toy model itself, two for each id but one for the last."""
    model = toy_model()
    batch = toy_batch(model)
    kept = {}
    for name in ("pgd?steps=20", "segpgd?steps=20"):
        attack = Attack(algorithm=attacks.build(name), threat=Threat(radius=RADIUS))
        images = attack.perturb(model, batch, 0).results[0].images.float().numpy()
        kept |= {f"{name}|{id_}": image for id_, image in zip(batch.ids, images, strict=True)}
    kept.pop(f"segpgd?steps=20|{batch.ids[-1]}")
    folder = tmp_path_factory.mktemp("toys")
    (folder / "kept-1.zst").write_bytes(pack(kept))
    return attacks.build({"kind": "transfer", "source": str(folder)})


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(toys, check):
    check(toys)


def asked(model, **changes):
    return {"models": [model], "data": [DATA], "perturbations": ["pgd?steps=6"], "eps": "8/255", **changes}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A run whose pictures others replay."""
    folder = tmp_path_factory.mktemp("source") / "run"
    evaluate(asked(net("tiny"), keep_images=True), folder, ALONE)
    return folder


def test_on_its_own_model_the_images_do_what_they_did(source, tmp_path):
    evaluate(asked(net("tiny"), perturbations=[f"transfer:{source}"]), tmp_path / "run", ALONE)
    (before,), (after,) = (figures([folder])["runs"] for folder in (source, tmp_path / "run"))
    (made,), (replayed,) = before["perturbations"].values(), after["perturbations"].values()
    assert replayed["accuracy"] == made["accuracy"] < after["clean"]["accuracy"]
    assert replayed["nmiou"] == made["nmiou"]
    assert replayed["backwards"] == 0


def test_on_another_model_they_do_less_and_verify(source, tmp_path):
    evaluate(asked("compact:cnn-normal", perturbations=["pgd?steps=6", f"transfer:{source}"]), tmp_path / "run", ALONE)
    (run,) = figures([tmp_path / "run"])["runs"]
    made, replayed = run["perturbations"].values()
    assert made["accuracy"] < replayed["accuracy"] <= run["clean"]["accuracy"]
    assert all(verdict.sound for verdict in verify(tmp_path / "run"))


def test_a_smaller_ball_clips(source, tmp_path):
    evaluate(asked(net("tiny"), eps="2/255", perturbations=[f"transfer:{source}"]), tmp_path / "run", ALONE)
    store = Store(tmp_path / "run")
    rows = [row for cell in store.cells() for row in store.table(cell, "images").to_pylist()]
    assert max(row["linf"] for row in rows) == pytest.approx(2 / 255, abs=1e-6)


def test_an_id_without_image_is_its_own_error(source, tmp_path):
    more = asked(net("tiny"), data=["shapes:test?count=4&size=24"], perturbations=[f"transfer:{source}"])
    run = evaluate(more, tmp_path / "run", ALONE)
    (line,) = run.errors
    assert "--keep-images" in line
    (told,) = figures([tmp_path / "run"])["runs"]
    (replayed,) = told["perturbations"].values()
    assert (replayed["images"], replayed["errors"]) == (3, 1)


def test_a_report_needs_the_images_no_more(source, tmp_path):
    shutil.copytree(source, tmp_path / "copy")
    evaluate(asked(net("tiny"), perturbations=[f"transfer:{tmp_path / 'copy'}"]), tmp_path / "run", ALONE)
    before = figures([tmp_path / "run"])
    shutil.rmtree(tmp_path / "copy")
    assert figures([tmp_path / "run"]) == before


def test_a_folder_that_does_not_exist_is_refused_at_once(tmp_path):
    with pytest.raises(BadInput, match="does not exist"):
        evaluate(asked(net("tiny"), perturbations=["transfer:nowhere"]), tmp_path / "run", ALONE)
    assert not Store(tmp_path / "run").cells()


def test_images_of_another_size_are_refused(source, tmp_path):
    run = evaluate(
        asked(net("tiny"), data=["shapes:test?count=3&size=16"], perturbations=[f"transfer:{source}"]),
        tmp_path / "run",
        ALONE,
    )
    assert len(run.errors) == 3
    assert all("3x24x24" in line and "3x16x16" in line for line in run.errors)


def test_other_images_in_the_same_folder_are_another_attack(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    specs = []
    for value in (0.25, 0.75):
        np.save(folder / "a.npy", np.full((4, 4, 3), value, np.float32))
        os.utime(folder / "a.npy", (value, value))  # clocks of file systems are coarse
        specs.append(attacks.build(f"transfer:{folder}"))
    assert specs[0] != specs[1]
    assert attacks.name(specs[0]) == attacks.name(specs[1]) == f"transfer(source={folder})"
    with pytest.raises(BadInput, match="other images"):
        specs[0].passes()
