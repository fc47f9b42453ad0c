"""The figures themselves as losses, at a falling temperature: ours."""

from __future__ import annotations

from ..algorithm import attacks
from ..algorithms.annealed_border import AnnealedBorder
from ..algorithms.momentum import Momentum

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
