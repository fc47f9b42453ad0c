"""Every battery's attacks, in order and with what each says of its own, written by hand.

A change here is a change of figures: raise the battery's version, and note its hash in test_audit.py.
"""

from __future__ import annotations

import pytest

from segstress.core import to_plain
from segstress.planning.battery_files import batteries, battery
from segstress.planning.perturbing import read_perturbation

EVERY = {"audit": 0.0, "fewest": 8, "core": 0, "tolerance": 0.0, "spend": 1.0}  # no battery of ours makes a choice
CONSTANT = {"progressive": False}

TABLE = {
    "quick": (2, [{"attack": "annealed-error", "steps": 26}, {"attack": "annealed-iou", "steps": 26}]),
    "strong": (
        3,
        [
            {"attack": "annealed-error", "steps": 120, "longest": 0.5},
            {"attack": "annealed-error", "steps": 260},
            {"attack": "annealed-iou", "steps": 185},
        ],
    ),
    "minimal": (2, [{"attack": "annealed-border"}, {"attack": "annealed-border-plain"}]),
    "published": (
        2,
        [
            {"attack": "padam-mce-bal", "steps": 75},
            "progressive-margin",
            "progressive-jsd",
            "progressive-rp",
            "progressive-rp-bal",
            "progressive-mce-bal",
            "padam-rp",
            "padam",
            "progressive-bce",
            "progressive-tsallis",
            "progressive-cos",
        ],
    ),
    # arXiv:2306.12941v2, in the order of its code: MCE-Bal, MCE, JS.
    "sea": (2, ["sea-mce-bal", "sea-mce", "sea-jsd"]),
    # arXiv:2306.12941v1, in the order of its code: MCE, BCE (SegPGD), JS, MSL.
    "sea-v1": (2, ["sea-mce", "sea-bce", "sea-jsd", "sea-msl"]),
    # arXiv:2206.07179, table 6 for linf.
    "proximal-splitting": (
        1,
        [
            *("alma-prox", "fmn", "pdpgd", {"attack": "dag", "step": 0.001}, "dag", "ifgsm-13x20", "mifgsm-13x20"),
            *("pgd-13x40", "pgd-13x4x10", "pgd-dlr-13x40", "pgd-dlr-13x4x10"),
        ],
    ),
    # arXiv:2407.09150, the release: ALMA prox at 1e-4, DAG at 0.001 and 0.003, APGD at one radius, MSL tracks itself.
    "trying-harder": (
        2,
        [
            {"attack": "alma-prox", "rate": 0.0001},
            "padam-ce",
            "padam-cos",
            {"attack": "dag", "step": 0.001},
            "dag",
            {"attack": "pdpgd", "norm_weight": "ratio"},
            {"attack": "sea-jsd"} | CONSTANT,
            {"attack": "sea-mce"} | CONSTANT,
            {"attack": "sea-msl", "track": "masked-spherical"} | CONSTANT,
            {"attack": "sea-bce"} | CONSTANT,
        ],
    ),
}


def test_the_table_has_every_battery():
    assert set(TABLE) == set(batteries())


@pytest.mark.parametrize("name", TABLE)
def test_a_battery_is_exactly_these_attacks(name):
    plain = to_plain(battery(name))
    version, perturbations = TABLE[name]
    assert plain.pop("about")
    assert plain == {"version": version, "perturbations": perturbations} | EVERY


@pytest.mark.parametrize("name", TABLE)
def test_every_attack_of_a_battery_can_be_built(name):
    given = {"eps": "8/255", "weights": [0.5, 0.5]}
    labels = [read_perturbation(spec, given).label for spec in battery(name).perturbations]
    assert len(set(labels)) == len(labels)
    assert all("8/255" in label for label in labels)


def test_sea_without_the_weights_of_a_split_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"sea-mce-bal weighs classes .* give weights=<dataset>") as refusal:
        [read_perturbation(spec, {"eps": "8/255"}) for spec in battery("sea").perturbations]
    assert "\n" not in str(refusal.value)
