"""Searches for the smallest delta, as they were released."""

from __future__ import annotations

from ..algorithm import attacks
from ..algorithms.alma_prox import ALMAProx
from ..algorithms.asma import ASMA
from ..algorithms.dag import DAG
from ..algorithms.ddn import DDN
from ..algorithms.fmn import FMN
from ..algorithms.pdgd import PDGD
from ..algorithms.pdpgd import PDPGD
from ..algorithms.search import Search

# Attacks that seek the smallest delta, as they were released; under a name in -auto they find their own steps.
attacks.preset(
    "alma-prox",
    ALMAProx,
    "ALMA prox as released, first step 0.001 (Rony et al. 2023, arXiv:2206.07179)",
    steps=500,
    rate=0.001,
    fade=0.1,
    memory=0.8,
    unit="differentiated",
    penalty="released",
    masking="decaying",
    tolerance=1e-4,
    prox_passes=24,
    keep="smallest",
)
attacks.preset(
    "pdpgd",
    PDPGD,
    "PDPGD for segmentation: equation 26 of arXiv:2206.07179, the released inner prox (arXiv:2106.01538)",
    steps=500,
    rate=0.01,
    fade=0.01,
    norm_weight="share",
    prox="inner",
    keep="smallest",
)
attacks.preset(
    "pdgd",
    PDGD,
    "PDGD for segmentation as its library has it, rate 0.1 (arXiv:2106.01538; arXiv:2206.07179's release: 0.01)",
    steps=500,
    rate=0.1,
    fade=0.01,
    norm_weight="share",
    least=1e-6,
    keep="smallest",
)
attacks.preset(
    "dag",
    DAG,
    "DAG (arXiv:1703.08603) by 200 equal steps of 0.003, as arXiv:2407.09150 has it (arXiv:2206.07179: 500)",
    steps=200,
    step=0.003,
    growth=1.0,
    box="stick",
    failed="clean",
    keep="smallest",
)
attacks.preset(
    "fmn",
    FMN,
    "FMN for segmentation: steps of l2 length 10, give step=1 in l2 (arXiv:2102.12827, released with arXiv:2206.07179)",
    loss="margin",
    steps=500,
    shrink=0.05,
    step=10.0,
    unit="l2",
    keep="smallest",
)
attacks.preset(
    "ddn",
    DDN,
    "DDN as published for l2: first radius and step of 1, 256 levels, the smallest that does enough (arXiv:1811.09600)",
    loss="ce",
    steps=500,
    first=1.0,
    unit="l2",
    ball="surface",
    levels=256,
    keep="smallest",
)
attacks.preset(
    "asma",
    ASMA,
    "ASMA: raw logits, a factor of 1e-7 and 1e-6 times the IoU (arXiv:1907.13124), in 500 steps as arXiv:2206.07179",
    steps=500,
    base=1e-7,
    gain=1e-6,
    success="iou",
    gradient="raw",
    keep="smallest",
)
# A round answers with its iterate of the most pixels won; an image that no round breaks gets its clean self.
BISECTION = {
    "rounds": 13,
    "starts": 1,
    "bracket": "arithmetic",
    "warm": False,
    "answer": "round",
    "failed": "clean",
    "keep": "smallest",
}
attacks.preset(
    "pgd-13x40",
    Search,
    "PGD at 13 radii, 40 steps each, as released with arXiv:2206.07179",
    loss="ce",
    steps=40,
    step=0.1 / 3,
    momentum=0.0,
    **BISECTION,
)
attacks.preset(
    "pgd-dlr-13x40",
    Search,
    "PGD on the logit ratio at 13 radii, 40 steps each, as released with arXiv:2206.07179",
    loss="dlr",
    steps=40,
    step=0.1 / 3,
    momentum=0.0,
    **BISECTION,
)
RESTARTS = BISECTION | {"starts": 4}
attacks.preset(
    "pgd-13x4x10",
    Search,
    "PGD at 13 radii, 4 starts of 10 steps each, as released with arXiv:2206.07179",
    loss="ce",
    steps=10,
    step=0.125,
    momentum=0.0,
    **RESTARTS,
)
attacks.preset(
    "pgd-dlr-13x4x10",
    Search,
    "PGD on the logit ratio at 13 radii, 4 starts of 10 steps each, as released with arXiv:2206.07179",
    loss="dlr",
    steps=10,
    step=0.125,
    momentum=0.0,
    **RESTARTS,
)
attacks.preset(
    "ifgsm-13x20",
    Search,
    "I-FGSM at 13 radii, 20 steps each, as released with arXiv:2206.07179",
    loss="ce",
    steps=20,
    step=0.05,
    momentum=0.0,
    **BISECTION,
)
attacks.preset(
    "mifgsm-13x20",
    Search,
    "MI-FGSM at 13 radii, 20 steps each, as released with arXiv:2206.07179",
    loss="ce",
    steps=20,
    step=0.05,
    momentum=1.0,
    **BISECTION,
)
