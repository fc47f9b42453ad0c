"""Names that the field uses for one algorithm with certain settings."""

from __future__ import annotations

from .algorithm import attacks
from .algorithms.annealed_border import AnnealedBorder
from .algorithms.apgd import APGD
from .algorithms.momentum import Momentum
from .algorithms.padam import PAdam
from .algorithms.pgd import PGD

attacks.preset(
    "fgsm", PGD, "One step to the border (Goodfellow et al. 2015, arXiv:1412.6572)", steps=1, random_start=False
)
attacks.preset(
    "bim", PGD, "PGD from the clean image (Kurakin et al. 2017, arXiv:1607.02533)", steps=10, random_start=False
)
attacks.preset("segpgd", PGD, "PGD on balanced cross-entropy (Gu et al. 2022, arXiv:2207.12391)", loss="segpgd")
attacks.preset(
    "cospgd", PGD, "PGD on cosine-weighted cross-entropy (Agnihotri et al. 2024, arXiv:2302.02213)", loss="cospgd"
)
attacks.preset("rp-pgd", PGD, "PGD on cross-entropy by region (region loss of RP-PGD, AAAI 2025)", loss="region")
attacks.preset(
    "pgd-masked", PGD, "PGD on the pixels still standing (masked loss of arXiv:2306.12941)", loss="masked-ce"
)

# The single attacks of the region-aware multi-attack.
REGION = {"step": 4 / 255, "random_start": False}
attacks.preset("pgd-region", PGD, "PGD in steps of 4/255 from the clean image (arXiv:2504.01632)", loss="ce", **REGION)
attacks.preset(
    "pgd-region-released",
    PGD,
    "pgd-region on the loss of the released code (arXiv:2504.01632)",
    loss="two-term",
    **REGION,
)

attacks.preset("padam-ce", PAdam, "Projected Adam on cross-entropy (arXiv:2407.09150)", loss="ce")
attacks.preset(
    "padam-mce-bal",
    PAdam,
    "Projected Adam on class-balanced masked cross-entropy (losses of arXiv:2306.12941, steps of arXiv:2407.09150)",
    loss="masked-ce-balanced",
)
attacks.preset("padam-rp", PAdam, "Projected Adam on cross-entropy by region (RP-PGD, AAAI 2025)", loss="region")
attacks.preset("padam-cos", PAdam, "Projected Adam on the cosine of logits (arXiv:2407.09150)", loss="cosine")

attacks.preset(
    "apgd-dlr", APGD, "APGD on the logit ratio (Croce & Hein 2020, arXiv:2003.01690)", loss="dlr", track="dlr"
)
attacks.preset(
    "apgd-margin", APGD, "APGD on the margin (arXiv:2003.01690)", loss="margin-clipped", track="margin-clipped"
)

# The segmentation ensemble attack: 300 steps of APGD while the radius shrinks to the one allowed.
SEA = {
    "sea-mce": ("masked cross-entropy", "masked-ce", "ce"),
    "sea-mce-bal": ("class-balanced masked cross-entropy", "masked-ce-balanced", "ce"),
    "sea-bce": ("balanced cross-entropy", "segpgd", "ce"),
    "sea-jsd": ("Jensen-Shannon divergence", "jsd", "ce"),
    "sea-msl": ("the masked spherical loss", "masked-spherical", "cosine"),
    "sea-cos": ("cosine-weighted cross-entropy", "cospgd", "ce"),
    "sea-margin": ("the clipped margin", "margin-clipped", "margin-clipped"),
    "sea-rp": ("cross-entropy by region of RP-PGD (AAAI 2025)", "region", "ce"),
    "sea-rp-bal": ("class-balanced cross-entropy by region of RP-PGD (AAAI 2025)", "region-balanced", "ce"),
}
for name, (words, loss, track) in SEA.items():
    about = f"APGD on {words}, the radius shrinking (Croce et al. 2024, arXiv:2306.12941)"
    attacks.preset(name, APGD, about, loss=loss, track=track, steps=300, progressive=True)
attacks.preset(
    "tsallis",
    APGD,
    "APGD on Tsallis cross-entropy, the radius shrinking (TsallisPGD 2026, arXiv:2605.03405)",
    loss="tsallis",
    steps=300,
    progressive=True,
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
