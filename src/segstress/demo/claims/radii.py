"""Claim 4: how small a change breaks each model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...evaluation.minimal_report import report
from ...metrics.intervals import Interval, interval_of
from ...planning.minimal import specs
from ...reports.findings.figures import Words, curves
from ...reports.findings.page import Answer, Check
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Column, Table
from ...reports.minimal.tables import BEST, groups
from ...results.minimal import MinimalResult
from .claim import claims
from .evidence import Evaluation, Evidence, Need
from .runs import named

PLAIN, HALF, WHOLE = "cnn-normal", "cnn-pgd-at-50", "cnn-pgd-at-100"
ENOUGH = 0.99  # share of pixels that must be wrong
ATTACKS = ("alma-prox-auto", "fmn-auto", "ddn-auto")
SMALL = 1e-6  # of a size: an image that is wrong already has no logarithm


def _plan(images: int) -> dict[str, Any]:
    return {
        "models": named(PLAIN, HALF, WHOLE),
        "data": [f"shapes:test?count={images}"],
        "perturbations": specs(ATTACKS, [ENOUGH]),
        "exhaustive": True,
    }


MINIMAL = Evaluation("minimal", _plan, report)


@claims.register("4-minimum-perturbations")
class Radii:
    """Measured by the smallest harmful change, a model trained with 50 % breaks near the normal model's radius."""

    needs: ClassVar[tuple[Need, ...]] = (MINIMAL,)

    def answer(self, evidence: Evidence) -> Answer:
        """Return the best of several attacks on each image, by model."""
        best = {group[0]: members for group, members in groups(evidence.minimal(MINIMAL)).items() if group[-1] == BEST}
        sizes = {model: _sizes(members) for model, members in best.items()}
        up, further = (_ratio(sizes, *pair) for pair in ((HALF, PLAIN), (WHOLE, HALF)))
        room = _interval(np.log(sizes[WHOLE]) - 2 * np.log(sizes[HALF]) + np.log(sizes[PLAIN]))
        check = Check(
            f"From {PLAIN} to {HALF} the radius that breaks an image grows by a smaller factor than from {HALF} to"
            f" {WHOLE}",
            f"{_factor(up)} and {_factor(further)} (geometric means), the second {_factor(room)} times the first",
            room.low > 1,
        )
        return Answer((check,), (_table(best, sizes),), (_drawing(best),))


def _sizes(results: Sequence[MinimalResult]) -> np.ndarray:
    """Return the size for every image in the order of its name; where nothing did enough, the longest delta."""
    ordered = sorted(results, key=lambda result: result.image)
    return np.array([max(result.counted, SMALL) for result in ordered])


def _interval(logarithms: np.ndarray) -> Interval:
    """Return the factor that the mean of logarithms stands for."""
    mean = interval_of(lambda weights: weights @ logarithms / weights.sum(1), len(logarithms))
    return Interval(*np.exp([mean.value, mean.low, mean.high]).tolist())


def _ratio(sizes: Mapping[str, np.ndarray], above: str, below: str) -> Interval:
    return _interval(np.log(sizes[above] / sizes[below]))


def _factor(interval: Interval) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _table(best: Mapping[str, Sequence[MinimalResult]], sizes: Mapping[str, np.ndarray]) -> Table:
    columns = (
        Column("model", "Model"),
        Column("images", "Images", "count"),
        Column("unsuccessful", "Never broken", "share"),
        Column("median", "Median size, 1/255", "number"),
        Column("mean", "Geometric mean, 1/255", "number"),
        Column("low", "Low", "number"),
        Column("high", "High", "number"),
    )
    rows = []
    for model, results in best.items():
        mean = _interval(np.log(255 * sizes[model]))
        failed = sum(not result.success for result in results) / len(results)
        median = float(np.median(255 * sizes[model]))
        rows.append((model, len(results), failed, median, mean.value, mean.low, mean.high))
    note = (
        f"The smallest delta (linf) of {', '.join(ATTACKS)} that leaves at most {100 * (1 - ENOUGH):.0f} % of an"
        " image's pixels right; an image that none broke counts 255/255. A constant answer is never"
        " broken: of its pixels the same stay right under any change."
    )
    return Table("radii", "The smallest change that breaks a model", columns, tuple(rows), note)


def _drawing(best: Mapping[str, Sequence[MinimalResult]]) -> Drawing:
    lines = {}
    for model, results in best.items():
        broken = sorted(255 * result.size for result in results if result.success)
        shares = [100 * number / len(results) for number in range(len(broken) + 1)]
        first = broken[0] / 2 if broken else math.nan
        lines[model] = ([first, *broken], shares)
    caption = "Share of images that are broken by a change of this size or less; further left is easier."
    around = Words("radii", "Broken images by size of the change", caption, "linf size, 1/255", "images broken, %")
    return curves(around, lines, steps=True, logarithmic=True)
