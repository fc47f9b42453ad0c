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
        """Only models that leave something to be won by every attack on every image can tell."""
        judged = [found for found in evidence.judged(BATTERY).values() if not found.untried.any()]
        checks = [_stronger(found) for found in judged]
        for figure, name in NAMES.items():
            best = {found.study.model: strongest(found, figure) for found in judged}
            checks.append(
                Check(
                    f"The attack that is strongest in {name} is not the same for all models",
                    ", ".join(f"{attack} for {model}" for model, attack in best.items()) or "no model could be judged",
                    len(set(best.values())) > 1,
                )
            )
        return Answer(tuple(checks), (_table(judged), _winners(judged)), (_drawing(judged),) if judged else ())


def strongest(judged: Assessment, figure: str = "accuracy") -> str:
    """The attack that alone leaves the least of a figure."""
    return min(judged.labels[1:], key=lambda label: judged.score(figure, label))


def gap(judged: Assessment, figure: str = "accuracy", attack: str = "") -> Difference:
    """What one attack, by default the strongest, leaves and the aggregate does not, on the same images."""
    alone = judged.counts(figure)[judged.labels.index(attack or strongest(judged, figure))]
    return difference(alone, judged.worst[figure].counts, metric_of(figure))


def _stronger(judged: Assessment) -> Check:
    """An attack that reaches the aggregate in one figure must fall short of it in the other."""
    short = [any(gap(judged, figure, attack).low > 0 for figure in NAMES) for attack in judged.labels[1:]]
    return Check(
        f"No single attack leaves {judged.study.model} as little of accuracy and of NmIoU as the aggregate does",
        "; ".join(_told(judged, figure) for figure in NAMES)
        + f"; constant {percent(judged.constant('accuracy'))} % of accuracy",
        all(short),
    )


def _told(judged: Assessment, figure: str) -> str:
    best = strongest(judged, figure)
    return (
        f"{NAMES[figure]}: aggregate {percent(judged.worst_score(figure))} %,"
        f" {best} {percent(judged.score(figure, best))} %, difference {span(gap(judged, figure))} points"
    )


def _table(judged: Sequence[Assessment]) -> Table:
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
            *(found.study.model, strongest(found), found.score("accuracy", strongest(found))),
            *(found.worst_interval("accuracy"), gap(found), found.worst_interval("accuracy_foreground")),
            found.constant("accuracy"),
        )
        for found in judged
    )
    note = "Models with images of which nothing was left before the last attack are not compared."
    return Table("aggregate", "One attack and all of them", columns, rows, note)


def _winners(judged: Sequence[Assessment]) -> Table:
    attacks = list(dict.fromkeys(label for found in judged for label in found.labels[1:]))
    columns = (Column("model", "Model"), *(Column(attack, attack, "count") for attack in attacks))
    rows = tuple(
        (found.study.model, *np.sum(found.strongest("accuracy"), axis=0)[1:].tolist())
        for found in judged
        if list(found.labels[1:]) == attacks
    )
    images = plural(len(judged[0].study.ids), "image") if judged else "no image"
    note = f"On how many of {images} each attack leaves the fewest pixels right; equal results go to the first."
    return Table("winners", "Which attack is strongest, image by image", columns, rows, note)


def _drawing(judged: Sequence[Assessment]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {}
    for found in judged:
        alone = {label: found.score("accuracy", label) for label in found.labels[1:]}
        rows[found.study.model] = {label: Interval(value, value, value) for label, value in alone.items()}
        rows[found.study.model]["aggregate"] = found.worst_interval("accuracy")
    caption = (
        "Pixels right under each attack alone, and when each image meets the attack that is worst for it (with 95 %"
        " interval). Dotted: one class everywhere."
    )
    around = Words("aggregate", "One attack and all of them", caption, "pixels right, %")
    return points(around, rows, judged[0].constant("accuracy"))
