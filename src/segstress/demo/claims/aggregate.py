"""Claim 2: one attack is not enough, and no attack is the strongest for every model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...metrics.intervals import Difference, Interval, difference
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check, span
from ...reports.kit.drawing import Drawing
from ...reports.kit.naming import percent, plural
from ...reports.kit.table import Column, Table
from ...reports.study.assessment import Assessment, metric_of
from .claim import claims
from .evidence import Evidence, Need
from .runs import BATTERY

NAMES = {"accuracy": "accuracy", "nmiou": "NmIoU"}  # the figures in which attacks are compared


@claims.register("2-aggregate")
class Aggregate:
    """The aggregate is stronger than every single attack, and different models fall to different attacks."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY,)

    def answer(self, evidence: Evidence) -> Answer:
        """Let only models tell that leave something to be won by every attack on every image."""
        assessments = [
            assessment for assessment in evidence.assessments(BATTERY).values() if not assessment.untried.any()
        ]
        checks = [_stronger(assessment) for assessment in assessments]
        for figure, name in NAMES.items():
            best = {assessment.study.model: strongest(assessment, figure) for assessment in assessments}
            checks.append(
                Check(
                    f"The attack that is strongest in {name} is not the same for all models",
                    ", ".join(f"{attack} for {model}" for model, attack in best.items()) or "no model could be judged",
                    len(set(best.values())) > 1,
                )
            )
        return Answer(
            tuple(checks), (_table(assessments), _winners(assessments)), (_drawing(assessments),) if assessments else ()
        )


def strongest(assessment: Assessment, figure: str = "accuracy") -> str:
    """Return the attack that alone leaves the least of a figure."""
    return min(assessment.labels[1:], key=lambda label: assessment.score(figure, label))


def gap(assessment: Assessment, figure: str = "accuracy", attack: str = "") -> Difference:
    """Return what one attack, by default the strongest, leaves and the aggregate does not, on the same images."""
    alone = assessment.counts(figure)[assessment.labels.index(attack or strongest(assessment, figure))]
    return difference(alone, assessment.worst[figure].counts, metric_of(figure))


def _stronger(assessment: Assessment) -> Check:
    """Require that an attack which reaches the aggregate in one figure falls short of it in the other."""
    short = [any(gap(assessment, figure, attack).low > 0 for figure in NAMES) for attack in assessment.labels[1:]]
    return Check(
        f"No single attack leaves {assessment.study.model} as little of accuracy and of NmIoU as the aggregate does",
        "; ".join(_told(assessment, figure) for figure in NAMES)
        + f"; constant {percent(assessment.constant('accuracy'))} % of accuracy",
        all(short),
    )


def _told(assessment: Assessment, figure: str) -> str:
    best = strongest(assessment, figure)
    return (
        f"{NAMES[figure]}: aggregate {percent(assessment.worst_score(figure))} %,"
        f" {best} {percent(assessment.score(figure, best))} %, difference {span(gap(assessment, figure))} points"
    )


def _table(assessments: Sequence[Assessment]) -> Table:
    columns = (
        Column("model", "Model"),
        Column("strongest", "Strongest single attack"),
        Column("alone", "Accuracy under it", "share"),
        Column("aggregate", "Accuracy, aggregate", "interval"),
        Column("gap", "Difference", "interval"),
        Column("foreground", "Accuracy, foreground, aggregate", "interval"),
        Column("constant", "One class everywhere", "share"),
    )
    rows = tuple(
        (
            *(assessment.study.model, strongest(assessment), assessment.score("accuracy", strongest(assessment))),
            *(assessment.worst_interval("accuracy"), gap(assessment), assessment.worst_interval("accuracy_foreground")),
            assessment.constant("accuracy"),
        )
        for assessment in assessments
    )
    note = "Models with images of which nothing was left before the last attack are not compared."
    return Table("aggregate", "One attack and all of them", columns, rows, note)


def _winners(assessments: Sequence[Assessment]) -> Table:
    attacks = list(dict.fromkeys(label for assessment in assessments for label in assessment.labels[1:]))
    columns = (Column("model", "Model"), *(Column(attack, attack, "count") for attack in attacks))
    rows = tuple(
        (assessment.study.model, *np.sum(assessment.strongest("accuracy"), axis=0)[1:].tolist())
        for assessment in assessments
        if list(assessment.labels[1:]) == attacks
    )
    images = plural(len(assessments[0].study.ids), "image") if assessments else "no image"
    note = f"On how many of {images} each attack leaves the fewest pixels right; equal results go to the first."
    return Table("winners", "Which attack is strongest, image by image", columns, rows, note)


def _drawing(assessments: Sequence[Assessment]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {}
    for assessment in assessments:
        alone = {label: assessment.score("accuracy", label) for label in assessment.labels[1:]}
        rows[assessment.study.model] = {label: Interval(value, value, value) for label, value in alone.items()}
        rows[assessment.study.model]["aggregate"] = assessment.worst_interval("accuracy")
    caption = (
        "Pixels right under each attack alone, and when each image meets the attack that is worst for it (with 95 %"
        " interval). Dotted: one class everywhere."
    )
    around = Words("aggregate", "One attack and all of them", caption, "pixels right, %")
    return points(around, rows, assessments[0].constant("accuracy"))
