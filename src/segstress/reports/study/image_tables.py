"""The tables that name images: the worst of each, every attempt, and what went wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from ...metrics.scores import image_accuracy, image_miou
from ...metrics.worst_case import NOBODY
from ...results.study import Outcome, Study
from ..kit.table import Cell, Column, Row, RowStream, Table
from .assessment import Assessment
from .registry import tables


@tables.register("images")
def images(assessment: Assessment) -> Table:
    """Return one line per image: clean, worst case, and the perturbation that did it."""
    columns = (
        Column("image", "Image"),
        Column("accuracy_clean", "Accuracy, clean", "share"),
        Column("accuracy_robust", "Accuracy, robust", "share"),
        Column("accuracy_by", "by"),
        Column("miou_clean", "mIoU, clean", "share"),
        Column("miou_robust", "mIoU, robust", "share"),
        Column("miou_by", "by"),
    )
    before = (image_accuracy(assessment.candidate("accuracy")), image_miou(assessment.candidate("nmiou")))
    worst = (assessment.worst["accuracy"], assessment.worst["nmiou"])
    rows = []
    for image in np.flatnonzero(assessment.answered[0]):
        cells: list[Cell] = [assessment.study.ids[image]]
        for clean, selection in zip(before, worst, strict=True):
            label = selection.chosen[image]
            by = "" if label == NOBODY else assessment.labels[label]
            cells += [float(clean[image]), float(selection.values[image]), by]
        rows.append(tuple(cells))
    return Table("images", "Image by image", columns, tuple(rows), folded=True)


@tables.register("attempts")
def attempts(assessment: Assessment) -> Table:
    """Return one line per image, perturbation and goal: what became of it and the size of the delta in every norm."""
    columns = (
        *(Column(key, key.capitalize()) for key in ("image", "perturbation", "goal", "status", "message")),
        *(Column(key, name, "share") for key, name in (("accuracy", "Accuracy"), ("miou", "mIoU"))),
        *(Column(key, key.capitalize(), "number") for key in ("size", "linf", "l2", "l1", "damage")),
        *(Column(key, key.capitalize(), "count") for key in ("forwards", "backwards")),
    )
    outcomes = assessment.study.outcomes
    rows = RowStream(sum(len(outcome.rows) for outcome in outcomes), partial(_attempts, assessment.study))
    return Table("attempts", "Every attempt", columns, rows, folded=True)


def _attempts(study: Study) -> Iterator[Row]:
    numbers = {image: number for number, image in enumerate(study.ids)}
    for outcome in study.outcomes:
        scores = {goal: (image_accuracy(counts), image_miou(counts)) for goal, counts in _whole(outcome).items()}
        for row in outcome.rows:
            accuracy, miou = math.nan, math.nan
            if row.status == "ok":
                accuracy, miou = (float(score[numbers[row.image]]) for score in scores[row.goal])
            yield (
                *(row.image, outcome.label, row.goal, row.status, row.message, accuracy, miou),
                *(row.size, row.linf, row.l2, row.l1, row.damage, row.forwards, row.backwards),
            )


def _whole(outcome: Outcome) -> dict[str, np.ndarray]:
    return {goal: counts for (goal, zone), counts in outcome.counts.items() if zone == "all"}


@tables.register("errors")
def errors(assessment: Assessment) -> Table:
    """Return one line per image and perturbation that has no result because something went wrong."""
    columns = (Column("image", "Image"), Column("perturbation", "Perturbation"), Column("message", "What happened"))
    study = assessment.study
    messages = {
        (row.image, outcome.label): row.message
        for outcome in (*study.outcomes, *(floor.outcome for floor in study.alone))
        for row in outcome.rows
        if row.status == "error"
    }
    rows = tuple((image, label, message) for (image, label), message in messages.items())
    lead = (
        "These have no result and are left out of the figures of their perturbation; the worst case takes what the"
        " others found."
    )
    return Table("errors", "What went wrong", columns, rows, lead=lead)
