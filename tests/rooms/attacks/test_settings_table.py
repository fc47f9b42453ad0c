"""Every attack's name and its exact settings, written by hand from the papers and their released code.

A change here is a change of what a name means: raise the version of every battery that has it, and say why.
"""

from __future__ import annotations

import pytest

from segstress.attacks import attacks
from segstress.core import to_plain

FOUND, CLEAN_START = None, False  # a step that is found or follows from the radius; a start at the image itself

# Ours, after arXiv:1706.06083, and what only changes its loss or its length.
PGD = {"loss": "ce", "steps": 40, "step": FOUND, "random_start": True, "keep": "best"}
# arXiv:2207.12391 and arXiv:2302.02213: steps of 0.01 from a random start, last iterate.
SEGMENTATION = PGD | {"step": 0.01, "keep": "last"}
# arXiv:2504.01632: 50 steps of 4/255 from the image itself, last iterate.
REGION = PGD | {"steps": 50, "step": 4 / 255, "random_start": CLEAN_START, "keep": "last"}
# Croce & Hein 2020 (arXiv:2003.01690): 100 steps at one radius, momentum 0.75, the iterate of the highest loss.
APGD = {
    "loss": "ce",
    "track": "ce",
    "steps": 100,
    "progressive": False,
    "random_start": True,
    "first": "start",
    "ties": "earlier",
    "carry": "track",
    "balance": "image",
    "keep": "last",
}
OUR_APGD = APGD | {"carry": "damage", "keep": "best"}
# arXiv:2306.12941: 300 steps split 3:3:4 over radii of 2, 1.5 and 1 eps, cross-entropy tracked; the iterate of lowest
# pixel accuracy is returned, the later of equals; the first comparison of a run wraps to a loss of zero.
SEA = OUR_APGD | {"steps": 300, "progressive": True, "first": "zero", "ties": "later", "keep": "accuracy"}
OUR_SEA = OUR_APGD | {"steps": 300, "progressive": True}
# arXiv:2407.09150: Adam with AMSGrad, 200 steps of 2/255, mean loss, random start, last iterate.
PADAM = {
    "loss": "ce",
    "steps": 200,
    "rate": 2 / 255,
    "random_start": True,
    "reduction": "mean",
    "keep": "last",
}
OUR_PADAM = PADAM | {"reduction": "sum", "keep": "best"}
# arXiv:2206.07179, its experiments' bisection: 13 rounds from [0, 2], each from zero; of a round the iterate with the
# most pixels won, the newest of equals; the clean image where no round does enough.
BISECTION = {
    "loss": "ce",
    "rounds": 13,
    "steps": 40,
    "starts": 1,
    "step": 0.1 / 3,
    "momentum": 0.0,
    "bracket": "arithmetic",
    "warm": False,
    "answer": "round",
    "failed": "clean",
    "keep": "smallest",
}
OUR_BISECTION = BISECTION | {
    "bracket": "geometric",
    "warm": True,
    "answer": "smallest",
    "failed": "best",
    "keep": "best",
}
FAST = {"steps": 20, "step": 1 / 20}
RESTARTS = {"steps": 10, "starts": 4, "step": 0.125}  # the first from zero, three at random
# Ours (docs/annealed.md, docs/minimal.md).
MOMENTUM = {
    "loss": "annealed-error",
    "steps": 200,
    "longest": 4.0,
    "shortest": 0.01,
    "memory": 0.5,
    "random_start": True,
}
BORDER = {"steps": 200, "longest": 0.5, "shortest": 0.01, "memory": 0.5, "change": 0.05, "rivals": True}

TABLE = {
    "pgd": PGD,
    "fgsm": PGD | {"steps": 1, "random_start": CLEAN_START, "keep": "last"},
    "bim": PGD | {"steps": 10, "step": 1 / 255, "random_start": CLEAN_START, "keep": "last"},
    "segpgd": SEGMENTATION | {"loss": "segpgd"},
    "cospgd": SEGMENTATION | {"loss": "cospgd"},
    "pgd-rp": PGD | {"loss": "region"},
    "pgd-masked": PGD | {"loss": "masked-ce"},
    "pgd-region": REGION,
    "pgd-region-released": REGION | {"loss": "two-term"},
    "mi-fgsm": {"loss": "ce", "steps": 10, "decay": 1.0, "keep": "last"},
    "patch": {"loss": "ce", "steps": 100, "rate": 0.05, "views": 0, "light": 0.1, "grain": 0.1, "shift": 0},
    "square": {"steps": 1000, "area": 0.8},
    "dla": {"steps": 200},
    "apgd": APGD,
    "apgd-dlr": APGD | {"loss": "dlr", "track": "dlr"},
    "apgd-margin": OUR_APGD | {"loss": "margin-clipped", "track": "margin-clipped"},
    "sea-mce": SEA | {"loss": "masked-ce"},
    "sea-mce-bal": SEA | {"loss": "masked-ce-balanced", "balance": "split"},
    "sea-bce": SEA | {"loss": "segpgd"},
    "sea-jsd": SEA | {"loss": "jsd"},
    "sea-msl": SEA | {"loss": "masked-spherical", "track": "cosine"},
    "tsallis": SEA | {"loss": "tsallis", "first": "skip", "carry": "track"},
    "progressive-mce": OUR_SEA | {"loss": "masked-ce"},
    "progressive-mce-bal": OUR_SEA | {"loss": "masked-ce-balanced"},
    "progressive-bce": OUR_SEA | {"loss": "segpgd"},
    "progressive-jsd": OUR_SEA | {"loss": "jsd"},
    "progressive-msl": OUR_SEA | {"loss": "masked-spherical", "track": "cosine"},
    "progressive-cos": OUR_SEA | {"loss": "cospgd"},
    "progressive-margin": OUR_SEA | {"loss": "margin-clipped", "track": "margin-clipped"},
    "progressive-rp": OUR_SEA | {"loss": "region"},
    "progressive-rp-bal": OUR_SEA | {"loss": "region-balanced"},
    "progressive-tsallis": OUR_SEA | {"loss": "tsallis"},
    "padam": OUR_PADAM,
    "padam-ce": PADAM,
    "padam-cos": PADAM | {"loss": "cosine"},
    "padam-mce-bal": OUR_PADAM | {"loss": "masked-ce-balanced"},
    "padam-rp": OUR_PADAM | {"loss": "region"},
    "momentum": MOMENTUM,
    "annealed-error": MOMENTUM,
    "annealed-error-balanced": MOMENTUM | {"loss": "annealed-error-balanced"},
    "annealed-error-region": MOMENTUM | {"loss": "annealed-error-region"},
    "annealed-ramp": MOMENTUM | {"loss": "annealed-ramp"},
    "annealed-iou": MOMENTUM | {"loss": "annealed-iou"},
    "annealed-border": BORDER,
    "annealed-border-plain": BORDER | {"rivals": False},
    "alma-prox": {
        "steps": 500,
        "rate": 0.001,
        "fade": 0.1,
        "memory": 0.8,
        "unit": "differentiated",
        "penalty": "released",
        "masking": "decaying",
        "prox_passes": 24,
        "tolerance": 1e-4,
        "keep": "smallest",
    },
    "alma-prox-auto": {
        "steps": 500,
        "rate": FOUND,
        "fade": 0.1,
        "memory": 0.8,
        "unit": "constant",
        "penalty": "exact",
        "masking": "decaying",
        "prox_passes": 8,
        "tolerance": 0.0,
        "keep": "best",
    },
    "pdpgd": {
        "steps": 500,
        "rate": 0.01,
        "fade": 0.01,
        "norm_weight": "share",
        "prox": "inner",
        "masking": "unlabelled",
        "keep": "smallest",
    },
    "pdpgd-auto": {
        "steps": 500,
        "rate": FOUND,
        "fade": 0.01,
        "norm_weight": "ratio",
        "prox": "exact",
        "masking": "unlabelled",
        "keep": "best",
    },
    "pdgd": {
        "steps": 500,
        "rate": 0.1,
        "fade": 0.01,
        "norm_weight": "share",
        "least": 1e-6,
        "keep": "smallest",
    },
    "pdgd-auto": {
        "steps": 500,
        "rate": FOUND,
        "fade": 0.01,
        "norm_weight": "ratio",
        "least": 1e-12,
        "keep": "best",
    },
    "dag": {
        "steps": 200,
        "step": 0.003,
        "growth": 1.0,
        "box": "stick",
        "failed": "clean",
        "keep": "smallest",
    },
    "dag-auto": {"steps": 200, "step": 0.003, "growth": 1.05, "box": "project", "failed": "best", "keep": "best"},
    "fmn": {"loss": "margin", "steps": 500, "shrink": 0.05, "step": 10.0, "unit": "l2", "keep": "smallest"},
    "fmn-auto": {
        "loss": "masked-margin",
        "steps": 200,
        "shrink": 0.05,
        "step": 1.0,
        "unit": "radius",
        "keep": "best",
    },
    "asma": {"steps": 500, "base": 1e-7, "gain": 1e-6, "success": "iou", "gradient": "raw", "keep": "smallest"},
    "asma-auto": {
        "steps": 500,
        "base": 0.05,
        "gain": 0.1,
        "success": "damage",
        "gradient": "scaled",
        "keep": "best",
    },
    # arXiv:1811.09600: radius and step of 1, the step falling to 0.01, 256 levels; 500 steps as in arXiv:2206.07179.
    "ddn": {
        "loss": "ce",
        "steps": 500,
        "step": 1.0,
        "change": 0.05,
        "first": 1.0,
        "unit": "l2",
        "ball": "surface",
        "levels": 256,
        "keep": "smallest",
    },
    "ddn-auto": {
        "loss": "masked-margin",
        "steps": 200,
        "step": 1.0,
        "change": 0.05,
        "first": FOUND,
        "unit": "radius",
        "ball": "inside",
        "levels": 0,
        "keep": "best",
    },
    "pgd-13x40": BISECTION,
    "pgd-dlr-13x40": BISECTION | {"loss": "dlr"},
    "pgd-13x4x10": BISECTION | RESTARTS,
    "pgd-dlr-13x4x10": BISECTION | RESTARTS | {"loss": "dlr"},
    "ifgsm-13x20": BISECTION | FAST,
    "mifgsm-13x20": BISECTION | FAST | {"momentum": 1.0},
    "pgd-ce-search": OUR_BISECTION,
    "pgd-dlr-search": OUR_BISECTION | {"loss": "dlr"},
    "ifgsm-search": OUR_BISECTION | FAST,
    "mifgsm-search": OUR_BISECTION | FAST | {"momentum": 1.0},
}


@pytest.mark.parametrize("name", TABLE)
def test_a_name_means_exactly_these_settings(name):
    assert to_plain(attacks.build(name)) == TABLE[name]


def test_the_table_has_every_attack():
    tested = {name for name in attacks.names() if not name.endswith("-of-tests")}
    assert tested - {"transfer"} == set(TABLE), "transfer alone has no settings without a folder"


@pytest.mark.parametrize("name", TABLE)
def test_an_attack_is_called_by_its_name(name):
    expected = {"momentum": "annealed-error"}.get(name, name)  # of two names for one thing the more telling
    assert attacks.name(attacks.build(name)) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("dag?step=0.001", "dag(step=0.001)"),
        ("alma-prox?rate=0.0001", "alma-prox(rate=0.0001)"),
        ("sea-jsd?progressive=false", "sea-jsd(progressive=False)"),
        ("progressive-jsd?steps=6", "progressive-jsd(steps=6)"),
        ("pgd?steps=3&step=0.01&random_start=false", "pgd(steps=3, step=0.01, random_start=False)"),
        ("pgd?steps=20&random_start=false", "pgd(steps=20, random_start=False)"),
        ("apgd?loss=dlr", "apgd(loss=dlr)"),
    ],
)
def test_a_setting_that_is_not_the_names_own_is_mentioned(spec, expected):
    assert attacks.name(attacks.build(spec)) == expected
