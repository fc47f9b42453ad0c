"""Claim 8: which search finds the smallest changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ...reports.findings.page import Answer, Check
from ...reports.kit.table import Column, Rows, Table
from ...reports.minimal.tables import BEST, groups
from .claim import claims
from .evidence import Evidence, Need
from .radii import ATTACKS, GROUPS, MINIMAL, STEPS, factor, sizes

ALMA, *RIVALS = ATTACKS
Sizes = Mapping[tuple[str, str], np.ndarray]  # by model and attack


@claims.register("8-smallest-of-all")
class Smallest:
    """ALMA prox finds the smallest changes of all."""

    needs: ClassVar[tuple[Need, ...]] = (MINIMAL,)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare it with every rival on every kind of model, image by image."""
        found = groups(evidence.minimal(MINIMAL))
        radii = {
            (group[0], group[-1].partition("(")[0]): sizes(results)
            for group, results in found.items()
            if group[-1] != BEST
        }
        return Answer(tuple(_check(radii, kind) for kind in GROUPS), (_table(radii),), ())


def _check(radii: Sizes, kind: str) -> Check:
    ratios = {}
    for rival in RIVALS:
        logarithms = [np.log(radii[name, ALMA] / radii[name, rival]) for name in GROUPS[kind]]
        ratios[rival] = factor(np.mean(logarithms, axis=0))
    shown = "; ".join(
        f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f}) times those of {rival}"
        for rival, ratio in ratios.items()
    )
    return Check(
        f"On {kind} the changes of {ALMA} are smaller than those of {' and '.join(RIVALS)}, on the mean of three seeds",
        f"{shown} (geometric means)",
        all(ratio.high < 1 for ratio in ratios.values()),
    )


def _table(radii: Sizes) -> Table:
    columns = (
        Column("model", "Model"),
        *(Column(attack, f"{attack}, median, 1/255", "number") for attack in ATTACKS),
    )
    rows: Rows = tuple(
        (name, *(float(np.median(255 * radii[name, attack])) for attack in ATTACKS))
        for names in GROUPS.values()
        for name in names
    )
    note = f"linf, 99 % of the pixels wrong, {STEPS} steps each; an image that was not broken counts 255/255."
    return Table("smallest", "The sizes that each search finds", columns, rows, note)
