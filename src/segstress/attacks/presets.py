"""Names that the field uses for one algorithm with certain settings."""

from __future__ import annotations

from .algorithm import attacks
from .algorithms.pgd import PGD

attacks.preset("segpgd", PGD, "PGD on balanced cross-entropy (Gu et al. 2022, arXiv:2207.12391)", loss="segpgd")
attacks.preset(
    "cospgd", PGD, "PGD on cosine-weighted cross-entropy (Agnihotri et al. 2024, arXiv:2302.02213)", loss="cospgd"
)
attacks.preset(
    "pgd-masked", PGD, "PGD on the pixels still standing (masked loss of arXiv:2306.12941)", loss="masked-ce"
)
