"""Stored figures of the zoo: the page is what they say, and they are shown for the weights they were measured on."""

from __future__ import annotations

import json

import pytest

from segstress.core import BadInput
from segstress.demo import zoo
from segstress.demo.demonstration import HISTORY
from segstress.demo.lock import LOCK
from segstress.models import fingerprint, load

NAME = "cnn-normal"


def results(fingerprint_: str) -> dict:
    figures = {figure: [0.25, 0.2, 0.3] for figure in (*zoo.CLEAN_FIGURES, *zoo.ROBUST_FIGURES)}
    entry = {"training": "segstress train x", "seed": 5, "share": 0.5, "without_grain": False, "clean_images": 16}
    return {
        "date": "2026-01-02",
        "command": "segstress demo --full --images 2",
        "versions": {"segstress": "0.1.0"},
        "battery": "strong v3",
        "threat": "linf 8/255",
        "images": 2,
        "clean_images": 16,
        "constant": {
            "clean": dict.fromkeys(zoo.CLEAN_FIGURES, 0.25),
            "robust": dict.fromkeys(zoo.ROBUST_FIGURES, 0.125),
        },
        "commonest": "background",
        "lock": ["claims.lock is of commit 1; the runs were begun at noon by commit 2."],
        "remarks": ["One swan was painted."],
        "models": {
            NAME: {**entry, "fingerprint": fingerprint_, "clean": figures, "robust": figures},
            "not-attacked": {**entry, "fingerprint": "", "clean": figures, "robust": {}},
        },
        "findings": [{"claim": "All swans are white", "verdict": "not seen", "checks": [[False, "no black", "one"]]}],
    }


@pytest.fixture
def keep(monkeypatch, tmp_path):
    """Store results in a place of their own."""
    path = tmp_path / "results.json"
    monkeypatch.setattr(zoo, "RESULTS", path)
    return lambda plain: path.write_text(json.dumps(plain))


def test_the_page_of_the_zoo_is_the_one_that_its_results_give():
    assert zoo.PAGE.exists() == zoo.RESULTS.exists()
    if zoo.RESULTS.exists():
        assert zoo.PAGE.read_text() == zoo.document(zoo.stored())


def test_a_document_says_every_figure_and_every_finding():
    text = zoo.document(results(""))
    assert f"| {NAME} | segstress train x | 5 | 50.0 | 25.0 [20.0, 30.0] |" in text
    assert "| one class everywhere | " in text
    assert "battery strong v3 at linf 8/255" in text
    assert "NmIoU, strong v3" in text
    assert "12.5 [12.5, 12.5]" in text
    assert "### 1. All swans are white: not seen" in text
    assert "- No: no black. Found: one." in text
    assert next(line for line in text.splitlines() if "not-attacked" in line).count("| - ") == 4


def test_each_state_is_of_its_own_images():
    kept = results("")
    kept["models"]["not-attacked"]["clean_images"] = 2
    text = zoo.document(kept)
    assert "on 2 images, clean on 16 (not-attacked on 2), with" in text
    assert "25.0 [25.0, 25.0] | 25.0 [25.0, 25.0] | 12.5 [12.5, 12.5]" in text


def test_when_claims_were_fixed_and_what_was_known_stands_above_them():
    text = zoo.document(results(""))
    _, _, claims = text.partition("## The papers' claims")
    said, _, _ = claims.partition("### 1.")
    assert "claims.lock is of commit 1; the runs were begun at noon by commit 2." in said
    assert "knew the answers of both" in said
    assert "One swan was painted." in said


def test_remarks_are_those_beside_the_results_and_of_one_run_alone():
    stored = zoo.stored()
    assert stored["remarks"] == zoo.remarks(stored["lock"]) == json.loads(zoo.REMARKS.read_text())["remarks"]
    assert zoo.remarks(["the runs were begun at noon by commit 2."]) == []


def test_a_model_without_figures_is_explained():
    stored = zoo.stored()
    unseen = [name for name, entry in stored["models"].items() if not entry["robust"]]
    assert all(any(name in remark for remark in stored["remarks"]) for name in unseen)


def test_the_history_promises_nothing_that_claims_lock_does_not_hold():
    assert all(name.endswith(".py") for name in json.loads(LOCK.read_text()))
    assert (
        "number of images, plans of trainings, weights, and the code of attacks, figures and intervals are not"
        in HISTORY
    )
    assert "one run" not in HISTORY


def test_figures_of_other_weights_are_not_shown(keep):
    assert zoo.current() == []
    keep(results("another"))
    assert zoo.current() == []
    keep(results(fingerprint(load(f"compact:{NAME}"), f"compact:{NAME}")))
    (table,) = zoo.current()
    assert [row[0] for row in table.rows] == [NAME, "one class everywhere"]
    assert "not computed now" in table.note


def test_figures_are_kept_in_a_checkout_only(monkeypatch, tmp_path):
    monkeypatch.setattr(zoo, "PAGE", tmp_path / "docs" / "zoo.md")
    with pytest.raises(BadInput, match="checkout"):
        zoo.store(tmp_path, [], "")


def test_the_quick_demo_shows_stored_figures_beside_its_own(keep, segstress, monkeypatch, tmp_path):
    keep(results(fingerprint(load(f"compact:{NAME}"), f"compact:{NAME}")))
    short = {"models": [f"compact:{NAME}", "compact:cnn"], "data": ["shapes:test?size=24"]}
    monkeypatch.setattr("segstress.demo.demonstration.PLAN", {**short, "perturbations": ["pgd?steps=1&eps=8/255"]})
    said = segstress("demo", "--limit", 2, "--workers", 1)
    assert said.code == 0
    assert "Stored: the zoo under the battery strong v3" in said.out
    assert "not computed now" in (tmp_path / "runs/demo/report/index.html").read_text()
    assert (tmp_path / "runs/demo/report/tables/stored.csv").is_file()


def test_store_alone_is_refused(segstress):
    said = segstress("demo", "--store")
    assert said.code == 2
    assert "--full" in said.err
