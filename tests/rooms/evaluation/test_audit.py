"""Choosing attacks from a sample: what is kept, what that costs, and that a run keeps to it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import net

from segstress.core import digest, to_plain
from segstress.evaluation import evaluate
from segstress.evaluation.audit import SelectionRule, choose
from segstress.evaluation.report import figures
from segstress.evaluation.rows import row_of
from segstress.planning.battery_files import Battery, batteries
from segstress.planning.battery_files import battery as named
from segstress.results.run import Run
from segstress.runtime import Cell, RunOptions, Shard, Store

CLEAN = np.full((5, 2), 0.9)


def scores(*attacks):
    """Clean and attacks, each a list of five image scores, the same for accuracy and mIoU."""
    return np.stack([CLEAN, *(np.repeat(np.array(attack, float)[:, None], 2, axis=1) for attack in attacks)])


STRONG, COMPLEMENT, WEAK = [0.1, 0.1, 0.1, 0.9, 0.9], [0.9, 0.9, 0.9, 0.1, 0.2], [0.5] * 5


def test_complementary_attacks_are_kept_and_the_covered_one_dropped():
    kept = SelectionRule().keep(scores(WEAK, STRONG, COMPLEMENT), np.ones(3))
    assert kept == [1, 2]


def test_a_tolerance_saves_attacks():
    slight = [0.1, 0.1, 0.1, 0.1, 0.09]
    whole = scores([0.1] * 5, slight)
    assert SelectionRule().keep(whole, np.ones(2)) == [1]
    assert SelectionRule(0.01).keep(scores([0.1] * 4 + [0.11], slight), np.ones(2)) == [1]
    assert len(SelectionRule(0.5).keep(scores(STRONG, COMPLEMENT), np.ones(2))) == 1


def test_a_budget_keeps_to_what_it_can_pay():
    kept = SelectionRule(most_passes=340).keep(scores(STRONG, COMPLEMENT, WEAK), np.array([300.0, 300.0, 40.0]))
    assert sum(np.array([300.0, 300.0, 40.0])[kept]) <= 340
    assert 0 in kept


def test_at_least_one_attack_is_kept():
    assert len(SelectionRule().keep(scores([0.9] * 5), np.ones(1))) == 1
    assert len(SelectionRule(most_passes=0).keep(scores(STRONG, WEAK), np.ones(2))) == 1


def test_the_core_is_kept_whatever_the_sample_says_and_others_join_it():
    some = scores(WEAK, STRONG, COMPLEMENT)
    assert SelectionRule(core=1).keep(some, np.ones(3)) == [0, 1, 2]
    assert SelectionRule(core=3).keep(some, np.ones(3)) == [0, 1, 2]
    assert SelectionRule(core=9).keep(some, np.ones(3)) == [0, 1, 2]
    assert SelectionRule(core=2, spend=2 / 3).keep(some, np.ones(3)) == [0, 1]
    assert SelectionRule(core=2, spend=1 / 3).keep(some, np.ones(3)) == [0]


@given(images=st.integers(1, 500), audit=st.floats(0.01, 0.5), fewest=st.integers(1, 9), spend=st.floats(0.1, 1))
def test_an_audit_and_what_it_leaves_spend_no_more_than_allowed(images, audit, fewest, spend):
    rule = Battery(perturbations=["pgd"], audit=audit, fewest=fewest, spend=spend)
    sample = rule.sample(images)
    assert min(fewest, images) <= sample <= images
    spent = sample + rule.rest(images) * (images - sample)
    assert spent <= max(spend * images, sample) + 1e-9


VERSIONS = {  # what batteries of the package say, but for `about`
    ("proximal-splitting", 1): "3e2b11778df2",
    ("proximal-splitting", 2): "fa4a5f18eb52",
    ("minimal", 1): "c80b61b7c319",
    ("minimal", 2): "ef26ac33f999",
    ("published", 2): "ff5dc8424d5a",
    ("quick", 2): "560cab73cc34",
    ("sea", 2): "f1b00922abef",
    ("sea-v1", 2): "3fdcd84512bd",
    ("strong", 2): "c37323bbdaa4",
    ("strong", 3): "230ed046836c",
    ("trying-harder", 2): "db1863712a37",
}


@pytest.mark.parametrize("name", batteries())
def test_a_battery_that_changes_gets_a_new_version(name):
    said = {key: value for key, value in to_plain(named(name)).items() if key not in ("about", "version")}
    known = VERSIONS.get((name, named(name).version))
    assert digest(said) == known, f"raise the version of {name}, since figures name it, and note it here"


def test_the_estimate_of_the_loss_does_not_see_the_image_it_is_made_on():
    only_here = [0.9, 0.9, 0.9, 0.9, 0.0]  # nothing but image 4 tells that this attack is worth anything
    losses = SelectionRule().left_out(scores([0.5] * 5, only_here), np.ones(2))
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
    evaluate(asked, tmp_path / "run", RunOptions(workers=1))
    (choice,) = json.loads((tmp_path / "run" / "choice.json").read_text())["choices"]
    assert choice["images"] == 8
    assert choice["dropped"]
    store = Store(tmp_path / "run")
    answers = {
        cell.key: len({row["image"] for row in store.table(cell, "images").to_pylist()}) for cell in store.cells()
    }
    assert all(answers[key] == 14 for key in choice["kept"])
    assert all(answers[key] == 8 for key in choice["dropped"])
    before = figures([tmp_path / "run"])
    evaluate(asked, tmp_path / "run", RunOptions(workers=1))
    assert figures([tmp_path / "run"]) == before
    evaluate({**asked, "exhaustive": True}, tmp_path / "whole", RunOptions(workers=1))
    adaptive, whole = (figures([tmp_path / name])["runs"][0]["worst_case"]["accuracy"] for name in ("run", "whole"))
    assert whole <= adaptive <= whole + 0.05


def test_images_of_an_audit_are_spared_too(tmp_path):
    """A set no larger than its sample costs what the battery costs without an audit; the choice is made regardless."""
    attacks, found = ["pgd-masked?steps=20", "pgd?steps=20", "cospgd?steps=20"], {}
    asked = {"models": [net("tiny")], "data": ["shapes:test?count=6&size=16"], "eps": "160/255", "done_at": 0}
    for name, lines in (("audited", "audit: 0.1\n"), ("plain", "")):
        (tmp_path / f"{name}.yaml").write_text(f"{lines}perturbations: {json.dumps(attacks)}\n")
        evaluate({**asked, "battery": str(tmp_path / f"{name}.yaml")}, tmp_path / name, RunOptions(workers=1))
        (found[name],) = figures([tmp_path / name])["runs"]
    assert found["audited"]["perturbations"] == found["plain"]["perturbations"]
    (choice,) = json.loads((tmp_path / "audited" / "choice.json").read_text())["choices"]
    assert choice["images"] == 6
    store = Store(tmp_path / "audited")
    spared = [row for cell in store.cells() for row in store.table(cell, "images").to_pylist() if row["finisher"]]
    assert spared
    assert {row["finisher"] for row in spared} <= set(choice["kept"])


def test_a_spared_image_is_lost_to_its_finisher_alone(tmp_path):
    """The second attack was never tried on an image, so it may not count as one that breaks it."""
    store, clean, first, second = Store(tmp_path), cell("clean"), cell("first"), cell("second")
    store.add(clean, answers(clean, {"a": 8, "b": 8}))
    store.add(first, answers(first, {"a": 0, "b": 6}))
    shard = answers(second, {"b": 2})
    shard.images.append(row_of("a", 0) | {"status": "skipped", "finisher": first.key})
    store.add(second, shard)
    choice = choose(Run(tmp_path), clean, [first, second], SelectionRule())
    assert choice.images == 2
    assert set(choice.kept) == {first.key, second.key}
    assert choose(Run(tmp_path), clean, [first, second], SelectionRule(most_passes=10)).kept == (first.key,)
    assert choice.loss_accuracy.value == pytest.approx((0.8 + 0.4) / 2)  # without "a" second is kept, and vice versa


def cell(name):
    facts = {"classes": ["a", "b"], "background": None, "void": "", "palette": []}
    names = {"model": "m", "data": "d", "perturbation": name}
    return Cell(names, {}, {}, {"kind": name}, 0, {"model": "m", "data": "d"}, facts)


def answers(asked, hits):
    """So many of the ten pixels of each image are right, at ten passes."""
    shard = Shard()
    for image, right in hits.items():
        shard.images.append(row_of(image, 0) | {"goal": "any", "forwards": 6, "backwards": 4})
        keys = {"image": image, "goal": "any", "state": "perturbed", "zone": "all"}
        shard.counts.append({**keys, "class": 0, "hits": right, "predicted": right, "actual": 10})
        shard.counts.append({**keys, "class": 1, "hits": 0, "predicted": 10 - right, "actual": 0})
    return shard


def test_a_budget_chooses_from_an_audit(battery, tmp_path):
    asked = {"models": [net("tiny")], "data": ["shapes:test?count=12&size=16"], "battery": battery, "eps": "8/255"}
    evaluate({**asked, "budget": "0.001s"}, tmp_path / "run", RunOptions(workers=1))
    (choice,) = json.loads((tmp_path / "run" / "choice.json").read_text())["choices"]
    assert len(choice["kept"]) == 1
