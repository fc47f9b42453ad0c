"""Claim 4: how small a change breaks each model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...evaluation.minimal_report import report
from ...metrics.intervals import Interval, interval_of
from ...reports.findings.figures import Words, curves
from ...reports.findings.page import Answer, Check
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Column, Table
from ...reports.minimal.tables import BEST, groups
from ...results.minimal import MinimalResult
from .claim import claims
from .evidence import Evaluation, Evidence, Need
from .runs import PLAIN, data, matched, named

HALF, WHOLE = "pgd-at-50", "pgd-at-100"
GROUPS = {"cnn-normal": PLAIN, HALF: matched(HALF), WHOLE: matched(WHOLE)}  # trainings and their seeds
FACTOR = 2.0  # of the radius: less is near
SEARCHES = "proximal-splitting"  # the battery: all searches of table 6 of arXiv:2206.07179, with their published steps
BROKEN = "99 %"  # of the pixels wrong
SMALL = 1e-6  # of a size: an image that is wrong already has no logarithm


def _plan(images: int) -> dict[str, Any]:
    models = [name for seeds in GROUPS.values() for name in seeds]
    return {
        "models": named(*models),
        "data": data((images + 1) // 2),  # a search costs as much as a battery
        "battery": SEARCHES,
        "exhaustive": True,
    }


MINIMAL = Evaluation("minimal", _plan, report)


@claims.register("04-minimum-perturbations")
class Radii:
    """By smallest harmful changes, 50 % breaks within twice the radius of normal models, 100 % beyond twice that."""

    needs: ClassVar[tuple[Need, ...]] = (MINIMAL,)

    def answer(self, evidence: Evidence) -> Answer:
        """Return the best of several attacks on each image, by model."""
        best = {group[0]: members for group, members in groups(evidence.minimal(MINIMAL)).items() if group[-1] == BEST}
        radii = {model: sizes(members) for model, members in best.items()}
        near, far = _ratios(radii, HALF, "cnn-normal"), _ratios(radii, WHOLE, HALF)
        checks = (
            Check(
                f"The radius that breaks {HALF} is less than {FACTOR:g} times that of the normal networks, on the mean"
                " of three seeds",
                _factors(near),
                near[0].high < FACTOR,
            ),
            Check(
                f"The radius that breaks {WHOLE} is more than {FACTOR:g} times that of {HALF}, on the mean of three"
                " seeds",
                _factors(far),
                far[0].low > FACTOR,
            ),
        )
        return Answer(checks, (_table(best, radii),), (_drawing(best),))


def sizes(results: Sequence[MinimalResult]) -> np.ndarray:
    """Return the size for every image in the order of its name; where nothing did enough, the longest delta."""
    ordered = sorted(results, key=lambda result: result.image)
    return np.array([max(result.counted, SMALL) for result in ordered])


def factor(logarithms: np.ndarray) -> Interval:
    """Return the factor that the mean of logarithms stands for."""
    mean = interval_of(lambda weights: weights @ logarithms / weights.sum(1), len(logarithms))
    return Interval(*np.exp([mean.value, mean.low, mean.high]).tolist())


def _ratios(radii: Mapping[str, np.ndarray], above: str, below: str) -> tuple[Interval, list[float]]:
    """Return the factor between two trainings: on the mean of the seeds, and on each."""
    pairs = zip(GROUPS[above], GROUPS[below], strict=True)
    logarithms = [np.log(radii[first] / radii[second]) for first, second in pairs]
    return factor(np.mean(logarithms, axis=0)), [float(np.exp(values.mean())) for values in logarithms]


def _factors(ratios: tuple[Interval, list[float]]) -> str:
    mean, by_seed = ratios
    seeds = ", ".join(f"{value:.2f}" for value in by_seed)
    return f"{mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f}) times (geometric means), by seed {seeds}"


def _table(best: Mapping[str, Sequence[MinimalResult]], radii: Mapping[str, np.ndarray]) -> Table:
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
        mean = factor(np.log(255 * radii[model]))
        failed = sum(not result.success for result in results) / len(results)
        median = float(np.median(255 * radii[model]))
        rows.append((model, len(results), failed, median, mean.value, mean.low, mean.high))
    note = (
        f"The smallest delta (linf) that any search of the battery {SEARCHES} found with {BROKEN} of an image's pixels"
        " wrong; an image that none broke counts 255/255. A constant answer is never broken: of its pixels the same"
        " stay right under any change."
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
