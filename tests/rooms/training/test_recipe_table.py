"""Every training recipe's exact settings, written by hand from the papers and their released code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from segstress.core import BadInput, to_plain
from segstress.fitting.plan import read_training_plan
from segstress.fitting.train import task_of
from segstress.models import models
from segstress.planning.perturbing import read_perturbation
from segstress.training import recipes

# DDC-AT's code (dvlab-research): BIM, eps 0.03, step 0.01, from the image itself, the last iterate; auxiliary head 0.4.
PGD = "pgd?steps=3&eps=0.03&step=0.01&random_start=false&keep=last"
ADVERSARIAL = {"attack": PGD, "share": 1.0, "auxiliary": 0.4}

TABLE = {
    "adversarial": ADVERSARIAL,
    "normal": ADVERSARIAL | {"share": 0.0},
    "pgd-at": ADVERSARIAL | {"share": 0.5},
    "segpgd-at": ADVERSARIAL
    | {"attack": "segpgd?steps=3&eps=0.03&step=0.01&random_start=false&keep=last", "share": 0.5},
    "pir-at": ADVERSARIAL | {"attack": "pgd?steps=5&eps=4/255&step=0.01&random_start=false&keep=last"},
    "ddc-at": ADVERSARIAL | {"share": 0.5},
    "annealed-at": ADVERSARIAL | {"attack": "annealed-error?steps=3&eps=0.03&keep=last"},  # ours
}


def test_the_table_has_every_recipe():
    assert set(TABLE) == set(recipes.names())


@pytest.mark.parametrize("name", TABLE)
def test_a_recipe_is_exactly_these_settings(name):
    assert to_plain(recipes.build(name)) == TABLE[name]


# What the inner attacks are once they are read: loss, steps, radius, and what all published ones share.
INNER = {
    "pgd-at": ("ce", 3, 0.03),
    "segpgd-at": ("segpgd", 3, 0.03),
    "pir-at": ("ce", 5, 4 / 255),
    "ddc-at": ("ce", 3, 0.03),
    "adversarial": ("ce", 3, 0.03),
}


@pytest.mark.parametrize("name", INNER)
def test_an_inner_attack_is_read_as_published(name):
    attack = read_perturbation(recipes.build(name).attack, {})
    inner = attack.algorithm
    assert (inner.loss, inner.steps, attack.threat.radius) == pytest.approx(INNER[name])
    assert (attack.threat.norm, inner.step, inner.random_start, attack.keep) == ("linf", 0.01, False, "last")


@pytest.mark.parametrize("name", INNER)
def test_the_page_of_recipes_says_the_same(name):
    loss, steps, radius = INNER[name]
    page = (Path(__file__).parents[3] / "docs/training.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    if "as `pgd-at`" not in row:
        eps = "4/255" if radius == 4 / 255 else f"{radius:g}"
        assert f"{steps} steps of 0.01, eps {eps}" in row
        assert ("SegPGD" in row) == (loss == "segpgd")
    assert f"| {recipes.build(name).share:g} |" in row


def test_the_page_names_the_models_that_branches_fit(quick):
    page = (Path(__file__).parents[3] / "docs/training.md").read_text()
    (named,) = re.findall(r"whose spec takes `classes`: (.*?), not", page, re.DOTALL)
    kinds = [name for name in models.names() if models.get(name).__module__.startswith("segstress.models.")]
    takes = {name for name in kinds if "classes" in {field.name for field in dataclasses.fields(models.get(name))}}
    assert set(re.findall(r"`(\w+):`", named)) == takes
    with pytest.raises(BadInput, match=r"model pruned: the recipe needs 16 outputs, .* whose spec has `classes`"):
        task_of(quick(recipe="ddc-at", model="pruned:compact:cnn-normal"))


# What matched trainings are compared in; all else of their plans is the same.
MATCHED = {
    "matched-pgd-at-50": ("ce", 0.5),
    "matched-segpgd-at-50": ("segpgd", 0.5),
    "matched-pgd-at-100": ("ce", 1.0),
    "matched-segpgd-at-100": ("segpgd", 1.0),
    "matched-annealed-at": ("annealed-error", 1.0),
}


def test_matched_trainings_differ_in_one_thing():
    plans = {name: read_training_plan(name, {}) for name in MATCHED}
    assert len({str({**to_plain(plan), "recipe": None}) for plan in plans.values()}) == 1
    for name, (loss, share) in MATCHED.items():
        recipe = recipes.build(plans[name].recipe)
        attack = read_perturbation(recipe.attack, {})
        assert (attack.algorithm.loss, recipe.share) == (loss, share)
        assert (attack.threat.radius, attack.keep, attack.algorithm.random_start) == (0.03, "last", True)
        assert attack.algorithm.passes() == (3, 3)


def test_matched_pir_at_begins_with_robust_features_alone():
    plan = read_training_plan("matched-pir-at", {})
    others = to_plain(read_training_plan("matched-pgd-at-100", {}))
    changed = {key for key, value in to_plain(plan).items() if value != others[key]}
    assert changed == {"recipe", "start", "backbone"}
    assert plan.recipe == "pir-at"
    assert plan.start is None
