"""Every training recipe's exact settings, written by hand from the papers and their released code."""

from __future__ import annotations

import pytest

from segstress.core import to_plain
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
}


def test_the_table_has_every_recipe():
    assert set(TABLE) == set(recipes.names())


@pytest.mark.parametrize("name", TABLE)
def test_a_recipe_is_exactly_these_settings(name):
    assert to_plain(recipes.build(name)) == TABLE[name]
