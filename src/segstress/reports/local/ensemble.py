"""Two models mixed at several weights: robust to nature, robust to attacks, and what lies between."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl

from ...metrics.intervals import Interval
from ...results.degradation import relative_loss
from ...results.local import LocalResult
from ..kit.drawing import CALM, HARM, INK, PERCENT, Drawing, canvas, style
from ..kit.naming import percent
from ..kit.table import Column, Rows, Table

FIGURE = "accuracy_image_mean"  # equations 4 and 5 of arXiv:2504.01632


@dataclass(frozen=True)
class Step:
    """One mixture: errors relative to a member, below zero where the mixture is better than it."""

    weight: float  # of the first model; the second has the rest
    clean: Interval  # against the better of the two on clean images
    natural: Interval  # CE_Nat: inside corrupted regions, against the second model
    adversarial: Interval  # CE_Adv: outside attacked regions, against the first model attacked itself


def sweep(results: Sequence[LocalResult], models: Mapping[float, str]) -> list[Step]:
    """Return a step for each weight of the first model; weights 0 and 1 are the members themselves."""
    if not {0.0, 1.0} <= models.keys():
        raise ValueError("a sweep needs the weights 0 and 1: they are what the others are compared with")
    own = {weight: [result for result in results if result.model == name] for weight, name in models.items()}
    corrupted = {weight: [result for result in some if result.natural] for weight, some in own.items()}
    attacked = {weight: [result for result in some if result.final] for weight, some in own.items()}  # all together
    best = max((0.0, 1.0), key=lambda weight: own[weight][0].score(FIGURE, "all", "clean"))
    return [
        Step(
            weight,
            relative_loss(own[best][:1], own[weight][:1], FIGURE, "all", "clean"),
            relative_loss(corrupted[0.0], corrupted[weight], FIGURE, "inside"),
            relative_loss(attacked[1.0], attacked[weight], FIGURE, "outside"),
        )
        for weight in sorted(models)
    ]


def headline(steps: Sequence[Step], first: str, second: str) -> str:
    """Say which weight keeps both errors low, and what it costs in each respect."""
    known = [step for step in steps if not math.isnan(step.natural.value + step.adversarial.value)]
    if not known:
        return f"{first} mixed with {second}: CE_Nat and CE_Adv cannot be compared, for want of a region or an attack."
    best = min(known, key=lambda step: max(step.natural.value, step.adversarial.value))
    natural, adversarial = percent(best.natural.value), percent(best.adversarial.value)
    costs = f"CE_Nat {natural} % against {second}, CE_Adv {adversarial} % against {first}"
    natural, adversarial = percent(steps[-1].natural.value), percent(steps[0].adversarial.value)
    ends = f"alone, {first} has CE_Nat {natural} %, {second} CE_Adv {adversarial} %"
    return f"The larger of the two errors is smallest at a weight of {best.weight:g} of {first}: {costs}; {ends}."


def reversed_roles(steps: Sequence[Step], first: str, second: str) -> list[str]:
    """Warn where a member surely surpasses the one that it is held against: the mixture then seems to cost nothing."""
    better = {
        f"{first} does better than {second} inside corrupted regions": steps[-1].natural.high < 0,
        f"{second} does better than {first} outside attacked regions": steps[0].adversarial.high < 0,
    }
    surpassed = " and ".join(words for words, so in better.items() if so)
    if all(better.values()):
        wanted = "the first model should be the one robust to attacks, the second the one robust to nature"
        return [f"The roles are reversed: {surpassed}; {wanted}. Give the models in the other order."]
    return [f"{surpassed} too, where the mixture was to gain from the other: little to trade."] if surpassed else []


def table(steps: Sequence[Step], first: str, second: str) -> Table:
    """Return one line per mixture."""
    columns = (
        Column("weight", f"Weight of {first}", "number"),
        Column("clean_error", "Clean error", "interval"),
        Column("ce_nat", "CE_Nat", "interval"),
        Column("ce_adv", "CE_Adv", "interval"),
    )
    rows: Rows = tuple((step.weight, step.clean, step.natural, step.adversarial) for step in steps)
    note = (
        f"Relative losses of accuracy (mean over images): clean against the better of the two; CE_Nat inside corrupted"
        f" regions against {second}; CE_Adv outside attacked regions against {first}. Each mixture is attacked itself."
    )
    return Table("ensemble", f"{first} mixed with {second}", columns, rows, note)


def drawing(steps: Sequence[Step], first: str, second: str) -> Drawing:
    """Draw the three errors against the weight of the first model (arXiv:2504.01632, figure 11)."""
    with mpl.rc_context(style()):
        figure, (axis,) = canvas(3.2)
        weights = [step.weight for step in steps]
        lines = (("clean error", INK, "clean"), ("CE_Nat", CALM, "natural"), ("CE_Adv", HARM, "adversarial"))
        for name, colour, part in lines:
            errors: list[Interval] = [getattr(step, part) for step in steps]
            axis.plot(weights, [error.value for error in errors], color=colour, marker="o", markersize=4, label=name)
            bounds = ([error.low for error in errors], [error.high for error in errors])
            axis.fill_between(weights, *bounds, color=colour, alpha=0.15, linewidth=0)
        axis.axhline(0, color=INK, linewidth=0.5)
        axis.set(xlabel=f"weight of {first}; the rest is {second}", ylabel="relative error, %")
        axis.yaxis.set_major_formatter(PERCENT)
        figure.legend(loc="outside upper right", ncols=3)
    caption = (
        f"What a mixture loses of accuracy: clean against the better member, CE_Nat inside corrupted regions against"
        f" {second}, CE_Adv outside attacked regions against {first}. Below zero it is better than that model."
        " Bands: 95 % intervals over images, of both weighed alike."
    )
    return Drawing("ensemble", "Between two models", caption, figure)
