"""Choosing attacks from a sample: what is kept, what that costs, and that a run keeps to it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.conftest import net

from segstress.jobs import Ways, evaluate
from segstress.jobs.audit import _keep, _left_out
from segstress.jobs.report import figures
from segstress.runtime import Store

CLEAN = np.full((5, 2), 0.9)


def scores(*attacks):
    """Clean and attacks, each a list of five image scores, the same for accuracy and mIoU."""
    return np.stack([CLEAN, *(np.repeat(np.array(attack, float)[:, None], 2, axis=1) for attack in attacks)])


STRONG, COMPLEMENT, WEAK = [0.1, 0.1, 0.1, 0.9, 0.9], [0.9, 0.9, 0.9, 0.1, 0.2], [0.5] * 5


def test_complementary_attacks_are_kept_and_the_covered_one_dropped():
    kept = _keep(scores(WEAK, STRONG, COMPLEMENT), np.ones(3), tolerance=0.0, most_passes=np.inf)
    assert kept == [1, 2]


def test_a_tolerance_saves_attacks():
    slight = [0.1, 0.1, 0.1, 0.1, 0.09]
    whole = scores([0.1] * 5, slight)
    assert _keep(whole, np.ones(2), 0.0, np.inf) == [1]
    assert _keep(scores([0.1] * 4 + [0.11], slight), np.ones(2), 0.01, np.inf) == [1]
    assert len(_keep(scores(STRONG, COMPLEMENT), np.ones(2), 0.5, np.inf)) == 1


def test_a_budget_keeps_to_what_it_can_pay():
    kept = _keep(scores(STRONG, COMPLEMENT, WEAK), np.array([300.0, 300.0, 40.0]), 0.0, most_passes=340)
    assert sum(np.array([300.0, 300.0, 40.0])[kept]) <= 340
    assert 0 in kept


def test_at_least_one_attack_is_kept():
    assert len(_keep(scores([0.9] * 5), np.ones(1), 0.0, np.inf)) == 1
    assert len(_keep(scores(STRONG, WEAK), np.ones(2), 0.0, most_passes=0)) == 1


def test_the_estimate_of_the_loss_does_not_see_the_image_it_is_made_on():
    only_here = [0.9, 0.9, 0.9, 0.9, 0.0]  # nothing but image 4 tells that this attack is worth anything
    losses = _left_out(scores([0.5] * 5, only_here), np.ones(2), 0.0, np.inf)
    assert losses[:4].max() == pytest.approx(0)
    assert losses[4] == pytest.approx([0.5, 0.5])


@pytest.fixture
def battery(tmp_path):
    path = tmp_path / "audited.yaml"
    attacks = ["pgd?steps=1&random_start=false&step=0.001", "pgd-masked?steps=8", "segpgd?steps=8"]
    path.write_text(f"about: audited\naudit: 0.1\ntolerance: 0.02\nperturbations: {json.dumps(attacks)}\n")
    return str(path)


def test_an_adaptive_run_audits_chooses_and_resumes(battery, tmp_path):
    asked = {
        "models": [net("tiny")],
        "data": ["shapes:test?count=14&size=16"],
        "battery": battery,
        "eps": "8/255",
    }
    evaluate(asked, tmp_path / "run", Ways(workers=1))
    (choice,) = json.loads((tmp_path / "run" / "choice.json").read_text())
    assert choice["images"] == 8
    assert choice["dropped"]
    store = Store(tmp_path / "run")
    answers = {cell.key: len({row["image"] for row in store.rows(cell, "images")}) for cell in store.cells()}
    assert all(answers[key] == 14 for key in choice["kept"])
    assert all(answers[key] == 8 for key in choice["dropped"])
    before = figures([tmp_path / "run"])
    evaluate(asked, tmp_path / "run", Ways(workers=1))
    assert figures([tmp_path / "run"]) == before
    evaluate({**asked, "exhaustive": True}, tmp_path / "whole", Ways(workers=1))
    adaptive, whole = (figures([tmp_path / name])["runs"][0]["worst_case"]["accuracy"] for name in ("run", "whole"))
    assert whole <= adaptive <= whole + 0.05


def test_a_budget_chooses_from_an_audit(battery, tmp_path):
    asked = {"models": [net("tiny")], "data": ["shapes:test?count=12&size=16"], "battery": battery, "eps": "8/255"}
    evaluate({**asked, "budget": "0.001s"}, tmp_path / "run", Ways(workers=1))
    (choice,) = json.loads((tmp_path / "run" / "choice.json").read_text())
    assert len(choice["kept"]) == 1
