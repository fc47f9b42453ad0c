"""Claim 1: what the share of adversarial images is worth under a battery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...metrics.intervals import Interval, difference
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check, span
from ...reports.kit.drawing import Drawing
from ...reports.kit.naming import percent
from ...reports.kit.table import Cell, Column, Table
from ...reports.study.assessment import Assessment, metric_of, title
from .claim import claims
from .evidence import Evidence, Need
from .runs import BATTERY, NO_GRAIN, TRAINING_ATTACK, TWIN, share

LITTLE = 0.1  # of pixels right: almost all robustness is lost
FIGURES = ("accuracy", "accuracy_foreground", "cmiou", "nmiou")
HALF, WHOLE, PLAIN = "cnn-pgd-at-50", "cnn-pgd-at-100", "cnn-normal"


@claims.register("1-half-is-not-enough")
class Half:
    """Trained with 50 % adversarial images, models lose almost all robustness; 100 % keeps some, and costs accuracy."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY, TRAINING_ATTACK, NO_GRAIN)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare clean, under the attack of the training, and under the battery."""
        battery, short = evidence.assessments(BATTERY), evidence.assessments(TRAINING_ATTACK)
        twin = evidence.assessments(NO_GRAIN)[TWIN]
        checks = [_lost(battery[name], short[name]) for name in battery if 0 < share(name) < 1]
        checks += [_kept(battery[name]) for name in battery if share(name) == 1]
        checks += [_paid(battery[PLAIN], battery[WHOLE]), _grain(battery[HALF], twin)]
        everyone = {**battery, f"{TWIN} (no grain in the images)": twin}
        return Answer(tuple(checks), (_table(everyone, short),), (_drawing(everyone, short),))


def _lost(battery: Assessment, short: Assessment) -> Check:
    left, before = battery.worst_interval("accuracy"), short.worst_interval("accuracy")
    constant = battery.constant("accuracy")
    return Check(
        f"{battery.study.model} withstands the short attack of {HALF}'s training better than a constant answer would,"
        f" and keeps less than {percent(LITTLE)} % of its pixels right under the battery",
        f"{span(before)} % under the short attack, {span(left)} % under the battery,"
        f" {span(battery.worst_interval('accuracy_foreground'))} % of the foreground; constant {percent(constant)} %",
        before.low > constant and left.high < LITTLE,
    )


def _kept(battery: Assessment) -> Check:
    left, constant = battery.worst_interval("accuracy"), battery.constant("accuracy")
    return Check(
        f"{battery.study.model} keeps more under the battery than a model that says {battery.commonest} everywhere",
        f"{span(left)} %, {span(battery.worst_interval('accuracy_foreground'))} % of the foreground;"
        f" constant {percent(constant)} %",
        left.low > constant,
    )


def _paid(plain: Assessment, robust: Assessment) -> Check:
    before, after = (assessment.counts("accuracy")[0] for assessment in (plain, robust))
    price = difference(before, after, metric_of("accuracy"))
    return Check(
        f"On clean images {robust.study.model} has fewer pixels right than {plain.study.model}",
        f"{span(price)} points fewer",
        price.low > 0,
    )


def _grain(half: Assessment, twin: Assessment) -> Check:
    with_grain, without = (assessment.worst_interval("accuracy_foreground") for assessment in (half, twin))
    return Check(
        f"Without the grain, which shapes carries by design, the fall is smaller: {TWIN}, on images without it, keeps"
        f" more of the foreground under the battery than {half.study.model}",
        f"{span(without)} % and {span(with_grain)} %",
        without.low > with_grain.high,
    )


def _table(assessments: Mapping[str, Assessment], short: Mapping[str, Assessment]) -> Table:
    columns = (
        Column("model", "Model"),
        Column("share", "Adversarial images", "share"),
        Column("accuracy_clean", "Accuracy, clean", "interval"),
        Column("cmiou_clean", "CmIoU, clean", "interval"),
        Column("accuracy_short", "Accuracy, attack of the training", "interval"),
        *(Column(f"{figure}_robust", f"{title(figure)}, battery", "interval") for figure in FIGURES),
    )
    rows = tuple(_row(name, assessment, short.get(name)) for name, assessment in assessments.items())
    first = next(iter(assessments.values()))
    same = [_sure(first.constant(figure)) for figure in ("accuracy", "cmiou", "accuracy", *FIGURES)]
    rows += (("one class everywhere", 0.0, *same),)
    note = (
        "95 % intervals over images. Last line: a model that looks at nothing, under any attack, and says"
        f" {first.commonest}; over the foreground the commonest of the other classes."
    )
    return Table("shares", "Clean, under the attack of the training, under the battery", columns, rows, note)


def _row(name: str, assessment: Assessment, short: Assessment | None) -> tuple[Cell, ...]:
    nothing = _sure(float("nan"))
    return (
        *(
            name,
            share(assessment.study.model),
            assessment.clean_interval("accuracy"),
            assessment.clean_interval("cmiou"),
        ),
        nothing if short is None else short.worst_interval("accuracy"),
        *(assessment.worst_interval(figure) for figure in FIGURES),
    )


def _sure(value: float) -> Interval:
    return Interval(value, value, value)


def _drawing(assessments: Mapping[str, Assessment], short: Mapping[str, Assessment]) -> Drawing:
    rows = {}
    for name, assessment in assessments.items():
        rows[name] = {"clean": assessment.clean_interval("accuracy"), "battery": assessment.worst_interval("accuracy")}
        if name in short:
            rows[name]["attack of the training"] = short[name].worst_interval("accuracy")
    first = next(iter(assessments.values()))
    caption = (
        "Pixels right with 95 % intervals over images. Dotted: a model that says"
        f" {first.commonest} everywhere; what is not right of it shows no robustness."
    )
    around = Words("shares", "What each training is worth", caption, "pixels right, %")
    return points(around, rows, first.constant("accuracy"))
