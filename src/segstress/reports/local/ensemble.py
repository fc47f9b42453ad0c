"""Two models mixed at several weights: robust to nature, robust to attacks, and what lies between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl

from ...metrics.scores import rce
from ...results.local import LocalResult, known_mean
from ..kit.drawing import CALM, HARM, INK, PERCENT, STYLE, Drawing, canvas
from ..kit.table import Column, Rows, Table

FIGURE = "accuracy_image_mean"  # equations 4 and 5 of arXiv:2504.01632


@dataclass(frozen=True)
class Step:
    """One mixture: errors relative to the better of its members, below zero where the mixture is better still."""

    weight: float  # of the first model; the second has the rest
    clean: float  # against the better of the two on clean images
    natural: float  # CE_Nat: inside corrupted regions, against the second model
    adversarial: float  # CE_Adv: outside attacked regions, against the first model attacked itself


def sweep(results: Sequence[LocalResult], models: Mapping[float, str]) -> list[Step]:
    """Return a step for each weight of the first model; weights 0 and 1 are the members themselves."""
    if not {0.0, 1.0} <= models.keys():
        raise ValueError("a sweep needs the weights 0 and 1: they are what the others are compared with")
    clean, natural, adversarial = ({weight: part(results, m) for weight, m in models.items()} for part in PARTS)
    best = max(clean[0.0], clean[1.0])
    return [
        Step(
            weight,
            rce(best, clean[weight]),
            rce(natural[0.0], natural[weight]),
            rce(adversarial[1.0], adversarial[weight]),
        )
        for weight in sorted(models)
    ]


def _clean(results: Sequence[LocalResult], model: str) -> float:
    return next(result.score(FIGURE, "all", "clean") for result in results if result.model == model)


def _natural(results: Sequence[LocalResult], model: str) -> float:
    return known_mean(
        result.score(FIGURE, "inside") for result in results if result.model == model and result.goal == "any"
    )


def _adversarial(results: Sequence[LocalResult], model: str) -> float:
    """Count only what all attacks together have fooled."""
    return known_mean(result.score(FIGURE, "outside") for result in results if result.model == model and result.final)


PARTS = (_clean, _natural, _adversarial)


def table(steps: Sequence[Step], first: str, second: str) -> Table:
    """Return one line per mixture."""
    columns = (
        Column("weight", f"Weight of {first}", "number"),
        Column("clean_error", "Clean error", "share"),
        Column("ce_nat", "CE_Nat", "share"),
        Column("ce_adv", "CE_Adv", "share"),
    )
    rows: Rows = tuple((step.weight, step.clean, step.natural, step.adversarial) for step in steps)
    note = (
        f"Relative losses of accuracy (mean over images): clean against the better of the two; CE_Nat inside corrupted"
        f" regions against {second}; CE_Adv outside attacked regions against {first}. Each mixture is attacked itself."
    )
    return Table("ensemble", f"{first} mixed with {second}", columns, rows, note)


def drawing(steps: Sequence[Step], first: str, second: str) -> Drawing:
    """Draw the three errors against the weight of the first model (arXiv:2504.01632, figure 11)."""
    with mpl.rc_context(STYLE):
        figure, (axis,) = canvas(3.2)
        weights = [step.weight for step in steps]
        lines = (("clean error", INK, "clean"), ("CE_Nat", CALM, "natural"), ("CE_Adv", HARM, "adversarial"))
        for name, colour, part in lines:
            values = [getattr(step, part) for step in steps]
            axis.plot(weights, values, color=colour, marker="o", markersize=4, label=name)
        axis.axhline(0, color=INK, linewidth=0.5)
        axis.set(xlabel=f"weight of {first}; the rest is {second}", ylabel="relative error, %")
        axis.yaxis.set_major_formatter(PERCENT)
        figure.legend(loc="outside upper right", ncols=3)
    caption = "What a mixture loses against the better member in each respect. Below zero it is better than both."
    return Drawing("ensemble", "Between two models", caption, figure)
