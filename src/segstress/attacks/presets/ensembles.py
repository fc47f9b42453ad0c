"""APGD with the losses of the segmentation ensemble attack: as published, and our stronger readings."""

from __future__ import annotations

from ..algorithm import attacks
from ..algorithms.apgd import APGD

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
