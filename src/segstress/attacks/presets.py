"""Names that the field uses for one algorithm with certain settings."""

from __future__ import annotations

from .algorithm import attacks
from .algorithms.alma_prox import ALMAProx
from .algorithms.annealed_border import AnnealedBorder
from .algorithms.apgd import APGD
from .algorithms.asma import ASMA
from .algorithms.dag import DAG
from .algorithms.ddn import DDN
from .algorithms.fmn import FMN
from .algorithms.momentum import Momentum
from .algorithms.padam import PAdam
from .algorithms.pdgd import PDGD
from .algorithms.pdpgd import PDPGD
from .algorithms.pgd import PGD
from .algorithms.search import Search

# Plain steps, as the papers take them: from the image itself or a random start, to the last iterate.
attacks.preset(
    "fgsm",
    PGD,
    "One step to the border (Goodfellow et al. 2015, arXiv:1412.6572)",
    steps=1,
    step=None,
    random_start=False,
    keep="last",
)
attacks.preset(
    "bim",
    PGD,
    "Steps of 1/255 from the image, its last iterate; 10 is the paper's number at 8/255 (arXiv:1607.02533)",
    steps=10,
    step=1 / 255,
    random_start=False,
    keep="last",
)
SEGMENTATION = {"step": 0.01, "keep": "last"}  # step of both papers in linf; the second takes 0.1 in l2
attacks.preset(
    "segpgd",
    PGD,
    "Steps of 0.01 on balanced cross-entropy, its last iterate (Gu et al. 2022, arXiv:2207.12391)",
    loss="segpgd",
    **SEGMENTATION,
)
attacks.preset(
    "cospgd",
    PGD,
    "Steps of 0.01 (give step=0.1 in l2) on cosine-weighted cross-entropy, its last iterate (arXiv:2302.02213)",
    loss="cospgd",
    **SEGMENTATION,
)
# Ours: RP-PGD itself also moves prototypes of the network's features, which no logits tell.
attacks.preset("pgd-rp", PGD, "PGD on cross-entropy by region (region loss of RP-PGD, AAAI 2025)", loss="region")
attacks.preset(
    "pgd-masked", PGD, "PGD on the pixels still standing (masked loss of arXiv:2306.12941)", loss="masked-ce"
)

# The single attacks of the region-aware multi-attack.
REGION = {"steps": 50, "step": 4 / 255, "random_start": False, "keep": "last"}
attacks.preset(
    "pgd-region",
    PGD,
    "50 steps of 4/255 from the clean image, its last iterate (arXiv:2504.01632)",
    loss="ce",
    **REGION,
)
attacks.preset(
    "pgd-region-released",
    PGD,
    "pgd-region on the loss of the released code (arXiv:2504.01632)",
    loss="two-term",
    **REGION,
)

# Projected Adam. What the paper published is literal; with other losses it is ours, and `padam` alone is so on ce.
PADAM = {"steps": 200, "rate": 2 / 255, "random_start": True, "reduction": "mean", "keep": "last"}
attacks.preset(
    "padam-ce", PAdam, "Projected Adam on mean cross-entropy, its last iterate (arXiv:2407.09150)", loss="ce", **PADAM
)
attacks.preset(
    "padam-cos",
    PAdam,
    "Projected Adam on the mean cosine of logits, its last iterate (arXiv:2407.09150)",
    loss="cosine",
    **PADAM,
)
attacks.preset(
    "padam-mce-bal",
    PAdam,
    "Projected Adam on class-balanced masked cross-entropy (losses of arXiv:2306.12941, steps of arXiv:2407.09150)",
    loss="masked-ce-balanced",
)
attacks.preset("padam-rp", PAdam, "Projected Adam on cross-entropy by region (RP-PGD, AAAI 2025)", loss="region")

attacks.preset(
    "apgd-dlr",
    APGD,
    "APGD on the logit ratio, its iterate of the highest loss (Croce & Hein 2020, arXiv:2003.01690)",
    loss="dlr",
    track="dlr",
)
OURS = {"carry": "damage", "keep": "best"}
attacks.preset(
    "apgd-margin",
    APGD,
    "APGD on the margin (arXiv:2003.01690); ours keeps the best for each figure",
    loss="margin-clipped",
    track="margin-clipped",
    **OURS,
)

# The segmentation ensemble attack, literally: 300 steps of APGD while the radius shrinks to the one allowed, of which
# the iterate with the fewest right pixels is returned for every figure.
SEA = {"steps": 300, "progressive": True, "first": "zero", "ties": "later", "carry": "damage", "keep": "accuracy"}
attacks.preset("sea-mce", APGD, "SEA on masked cross-entropy (arXiv:2306.12941)", loss="masked-ce", track="ce", **SEA)
attacks.preset(
    "sea-mce-bal",
    APGD,
    "SEA on masked cross-entropy over the pixels of a class in the training split: give weights (arXiv:2306.12941v2)",
    loss="masked-ce-balanced",
    track="ce",
    balance="split",
    **SEA,
)
attacks.preset("sea-bce", APGD, "SEA on balanced cross-entropy (arXiv:2306.12941v1)", loss="segpgd", track="ce", **SEA)
attacks.preset("sea-jsd", APGD, "SEA on Jensen-Shannon divergence (arXiv:2306.12941)", loss="jsd", track="ce", **SEA)
attacks.preset(
    "sea-msl",
    APGD,
    "SEA on the masked spherical loss, the unmasked one tracked (arXiv:2306.12941v1)",
    loss="masked-spherical",
    track="cosine",
    **SEA,
)
attacks.preset(
    "tsallis",
    APGD,
    "SEA's search on Tsallis cross-entropy, stages linked by the highest cross-entropy (TsallisPGD, arXiv:2605.03405)",
    loss="tsallis",
    track="ce",
    **(SEA | {"first": "skip", "carry": "track"}),
)

# Ours: the same search, progress held against the start, the best iterate of each figure, weights of the image itself.
PROGRESSIVE = {
    "progressive-mce": ("masked cross-entropy", "masked-ce", "ce"),
    "progressive-mce-bal": ("class-balanced masked cross-entropy", "masked-ce-balanced", "ce"),
    "progressive-bce": ("balanced cross-entropy", "segpgd", "ce"),
    "progressive-jsd": ("Jensen-Shannon divergence", "jsd", "ce"),
    "progressive-msl": ("the masked spherical loss", "masked-spherical", "cosine"),
    "progressive-cos": ("cosine-weighted cross-entropy", "cospgd", "ce"),
    "progressive-margin": ("the clipped margin", "margin-clipped", "margin-clipped"),
    "progressive-rp": ("cross-entropy by region of RP-PGD (AAAI 2025)", "region", "ce"),
    "progressive-rp-bal": ("class-balanced cross-entropy by region of RP-PGD (AAAI 2025)", "region-balanced", "ce"),
    "progressive-tsallis": ("Tsallis cross-entropy (arXiv:2605.03405)", "tsallis", "ce"),
}
for name, (words, loss, track) in PROGRESSIVE.items():
    about = f"APGD on {words}, the radius shrinking as in SEA (arXiv:2306.12941); ours keeps the best for each figure"
    attacks.preset(name, APGD, about, loss=loss, track=track, steps=300, progressive=True, **OURS)

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
    "PDGD for segmentation as released, first step 0.1 (arXiv:2106.01538)",
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
    "DAG as released: equal steps, and the clean image where none does enough (arXiv:1703.08603)",
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
    "ASMA as published: raw logits, a factor of 1e-7 and 1e-6 times the IoU (arXiv:1907.13124)",
    steps=500,
    base=1e-7,
    gain=1e-6,
    success="iou",
    gradient="raw",
    keep="smallest",
)
BISECTION = {"rounds": 13, "starts": 1, "bracket": "arithmetic", "warm": False, "keep": "smallest"}
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

# Ours: the figures themselves, smoothed by a falling temperature (docs/annealed.md).
ANNEALED = {
    "annealed-error": "the number of wrong pixels",
    "annealed-error-balanced": "the number of wrong pixels, rare classes weighing more",
    "annealed-error-region": "the number of wrong pixels, by region of RP-PGD (AAAI 2025)",
    "annealed-ramp": "the number of wrong pixels, each against its best rival alone",
    "annealed-iou": "the image's mIoU",
}
for name, words in ANNEALED.items():
    attacks.preset(name, Momentum, f"Momentum on {words} at a falling temperature (ours, docs/annealed.md)", loss=name)
attacks.preset(
    "annealed-border-plain",
    AnnealedBorder,
    "The annealed border without chosen rivals (ours, docs/minimal.md; ball of arXiv:1811.09600)",
    rivals=False,
)
