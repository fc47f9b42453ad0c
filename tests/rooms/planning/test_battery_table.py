"""Every battery's attacks, in order and with what each says of its own, written by hand.

A change here is a change of figures: raise the battery's version, and note its hash in test_audit.py.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from segstress.core import perturbations, to_plain
from segstress.planning.battery_files import batteries, battery
from segstress.planning.perturbing import read_perturbation
from segstress.planning.spatial import spatial_battery

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
    # arXiv:2206.07179, table 6 for linf; 500 iterations by table 4, PDPGD as released.
    "proximal-splitting": (
        2,
        [
            *("alma-prox", "fmn", {"attack": "pdpgd", "norm_weight": "ratio"}),
            *({"attack": "dag", "step": 0.001, "steps": 500}, {"attack": "dag", "steps": 500}),
            *("ifgsm-13x20", "mifgsm-13x20", "pgd-13x40", "pgd-13x4x10", "pgd-dlr-13x40", "pgd-dlr-13x4x10"),
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


def patches(name, severity, ratio, size, mode="exact", apply="whole"):
    """Write a corruption of some of an image's patches."""
    region = {"kind": "patches", "ratio": ratio, "size": size, "mode": mode}
    return {"kind": "corrupt", "corruption": name, "severity": severity, "region": region, "apply": apply}


def published(mode, apply):
    """Write arXiv:2504.01632, table 1 and figure 4, in one of its two readings."""
    half = [patches(name, severity, 0.5, 256, mode, apply) for name in NAMES for severity in SEVERITIES]
    return half, [patches(name, 3, ratio, 256, mode, apply) for name in NAMES[1:] for ratio in RATIOS]


def strikes(radius, side, position="centre", number=3, **own):
    """Write a multi-attack on one square, with the settings that the attack has of its own."""
    return {
        "kind": "multi-attack",
        "threat": {"radius": radius},
        "region": {"kind": "box", "position": position, "height": side, "width": side},
        "attack": {"kind": "pgd-region", **own},
        "number": number,
    }


NAMES, SEVERITIES, RATIOS = ("brightness", "snow", "gaussian_noise"), (1, 3, 5), (0.1, 0.25, 0.35, 0.75, 1.0)
RELEASED, TEXT = published("exact", "patches"), published("bernoulli", "whole")
RINGS = {"distances": [4, 8, 16, 32]}

SPATIAL = {
    "localized": [*RELEASED[0], *RELEASED[1]],
    "localized-paper": [*TEXT[0], *TEXT[1]],
    "localized-shapes": [
        patches(name, severity, ratio, 24) | RINGS
        for name in NAMES
        for severity in SEVERITIES
        for ratio in (0.25, 0.5, 0.75)
    ],
    # Sides and radii, then corners, number and steps, each varied by itself.
    "multi-attack": [
        *(strikes(radius, side) for side in (100, 200) for radius in ("16/255", "32/255")),
        *(strikes("16/255", 200, position) for position in ("bottom-left", "top-left")),
        strikes("16/255", 200, number=5),
        *(strikes("16/255", 200, steps=steps) for steps in (20, 100, 150, 250)),
    ],
    "multi-attack-shapes": [strikes("16/255", 24, at, 5, steps=20) for at in ("centre", "top-left")],
    "ensemble": [*RELEASED[0], strikes("16/255", 200)],
    "ensemble-shapes": [*(patches(name, 3, 0.5, 24) for name in NAMES[1:]), strikes("16/255", 24, steps=10)],
}


def test_the_table_has_every_battery_of_localized_damage():
    assert set(SPATIAL) == {
        Path(path.name).stem for path in files("segstress").joinpath("plans/batteries/spatial").iterdir()
    }


@pytest.mark.parametrize("name", SPATIAL)
def test_a_battery_of_localized_damage_is_exactly_these(name):
    built = [perturbations.build(spec) for spec in spatial_battery(name)]
    assert built == [perturbations.build(spec) for spec in SPATIAL[name]]
    assert len({change.label for change in built}) == len(built)
