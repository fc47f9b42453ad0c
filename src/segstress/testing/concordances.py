"""What every measure of agreement must keep; `check_concordance` is public, for authors of plug-ins."""

from __future__ import annotations

import numpy as np

from ..competition.discrepancy import BY_CLASS, ONE_WAY, concordances, pair_counts

CLASSES = 4


def check_concordance(name: str) -> None:
    """Check that agreement lies in [0, 1], is one of equal maps alone, and the same of either model first."""
    agreement = concordances.get(name)
    assert concordances.about(name), "its docstring does not say what it is"
    draw = np.random.default_rng(0)
    maps = draw.integers(0, CLASSES, size=(3, 12, 12)).astype(np.uint8)
    maps[2] = maps[0]
    counts = pair_counts(maps, CLASSES)
    before = counts.copy()
    values = agreement(counts)
    assert (counts == before).all(), "it changed the counts"
    assert values.shape == counts.shape[: 3 if name in BY_CLASS else 2], f"shape of {values.shape}"
    unlike, alike = values[0, 1], values[0, 2]
    assert np.allclose(alike, 1), "two equal maps do not agree wholly"
    assert ((unlike >= 0) & (unlike < 1)).all(), "agreement of unlike maps is not between 0 and 1"
    assert name in ONE_WAY or np.allclose(values[0, 1], values[1, 0]), "it depends on which model comes first"
