"""Claim 8: which search finds the smallest changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ...metrics.intervals import Interval
from ...reports.findings.page import Answer, Check
from ...reports.kit.table import Column, Rows, Table
from ...reports.minimal.tables import BEST, groups
from .claim import claims
from .evidence import Evidence, Need
from .radii import BROKEN, GROUPS, MINIMAL, SEARCHES, factor, sizes

OURS = "alma-prox"
Sizes = Mapping[str, Mapping[str, np.ndarray]]  # by model, by search


@claims.register("08-smallest-of-all")
class Smallest:
    """ALMA prox finds the smallest changes of all."""

    needs: ClassVar[tuple[Need, ...]] = (MINIMAL,)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare it with every rival on every kind of model, image by image."""
        radii: dict[str, dict[str, np.ndarray]] = {}
        for group, results in groups(evidence.minimal(MINIMAL)).items():
            if group[-1] != BEST:
                radii.setdefault(group[0], {})[group[-1]] = sizes(results)
        return Answer(tuple(_check(radii, kind) for kind in GROUPS), (_table(radii), _ratios(radii)), ())


def ratios(radii: Sizes, kind: str) -> dict[str, Interval]:
    """Return how many times those of each rival its changes are, on the mean of the seeds."""
    (own,) = (search for search in searches(radii) if search.startswith(OURS))
    return {
        rival: factor(np.mean([np.log(radii[name][own] / radii[name][rival]) for name in GROUPS[kind]], axis=0))
        for rival in searches(radii)
        if rival != own
    }


def searches(radii: Sizes) -> list[str]:
    """Return the searches in the order of the battery."""
    return list(next(iter(radii.values())))


def _check(radii: Sizes, kind: str) -> Check:
    found = ratios(radii, kind)
    above = [f"{ratio.value:.2f} times those of {rival}" for rival, ratio in found.items() if ratio.high >= 1]
    worst = max(found.values(), key=lambda ratio: ratio.high)
    return Check(
        f"On {kind} the changes of {OURS} are smaller than those of each of its {len(found)} rivals, on the mean of"
        " three seeds",
        f"smaller than those of {len(found) - len(above)}; not surely smaller: {', '.join(above) or 'none'}",
        worst.high < 1,
    )


def _table(radii: Sizes) -> Table:
    columns = (
        Column("model", "Model"),
        *(Column(f"search_{number}", search, "number") for number, search in enumerate(searches(radii))),
    )
    rows: Rows = tuple(
        (name, *(float(np.median(255 * found)) for found in radii[name].values()))
        for names in GROUPS.values()
        for name in names
    )
    note = (
        f"Median over images of the smallest linf size with {BROKEN} of the pixels wrong, 1/255, by each search of the"
        f" battery {SEARCHES}; an image that was not broken counts 255/255."
    )
    return Table("smallest", "The sizes that each search finds", columns, rows, note)


def _ratios(radii: Sizes) -> Table:
    columns = (
        Column("models", "Models"),
        Column("rival", "Search"),
        Column("ratio", f"Sizes of {OURS}, times those of the search", "number"),
        Column("low", "Low", "number"),
        Column("high", "High", "number"),
    )
    rows: Rows = tuple(
        (kind, rival, ratio.value, ratio.low, ratio.high)
        for kind in GROUPS
        for rival, ratio in ratios(radii, kind).items()
    )
    note = (
        "Geometric means over images and three seeds, with 95 % intervals over images; below 1 its changes are smaller."
    )
    return Table("ratios", f"{OURS} beside each rival", columns, rows, note)
