"""Plain steps and projected Adam: what papers published with them, and ours on other losses."""

from __future__ import annotations

from ..algorithm import attacks
from ..algorithms.padam import PAdam
from ..algorithms.pgd import PGD

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
attacks.preset("pgd-masked", PGD, "PGD on the pixels that remain (masked loss of arXiv:2306.12941)", loss="masked-ce")

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
