"""The tables that sum up: models side by side, clean against worst case, perturbations, classes, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...metrics.scores import class_table
from ...results.study import Study
from ..kit.table import Cell, Column, Rows, Table
from .assessment import Assessment
from .figure_names import headline, title
from .registry import tables
from .sparing import slack


def comparison(assessments: Sequence[Assessment]) -> Table:
    """Return one line per study: what is right on clean images and what is left in the worst case.

    Below them, for each dataset, what a model reaches that says its commonest class everywhere."""
    questions = {(assessment.study.data, assessment.study.threat) for assessment in assessments}
    best: Literal["", "highest"] = "highest" if len(questions) == 1 else ""  # of one question alone
    columns = (
        Column("model", "Model"),
        Column("data", "Data"),
        Column("threat", "Threat"),
        Column("battery", "Battery", hidden=not any(assessment.study.battery for assessment in assessments)),
        Column("images", "Images", "count"),
        Column("perturbations", "Perturbations", "count", hidden=True),
        *(
            Column(f"{figure}_{state}", f"{title(figure)}, {state}", "share", best=best)
            for figure in headline()
            for state in ("clean", "robust")
        ),
    )
    rows: Rows = tuple(
        (
            *(assessment.study.model, assessment.study.data, assessment.study.threat, assessment.study.battery),
            *(int(assessment.answered[0].sum()), len(assessment.study.outcomes)),
            *(score for figure in headline() for score in (assessment.score(figure), assessment.worst_score(figure))),
        )
        for assessment in assessments
    )
    sets = {(assessment.study.data, assessment.study.ids): assessment for assessment in reversed(assessments)}
    rows += tuple(_constant(assessment) for assessment in reversed(sets.values()))
    return Table("comparison", "All models", columns, rows, beside=len(sets))


def _constant(assessment: Assessment) -> tuple[Cell, ...]:
    """Return the row of a model that looks at nothing, on which every perturbation is lost."""
    scores = (score for figure in headline() for score in [assessment.constant(figure)] * 2)
    return (
        f"always {assessment.commonest}",
        assessment.study.data,
        "",
        "",
        int(assessment.answered[0].sum()),
        0,
        *scores,
    )


@tables.register("robust")
def robust(assessment: Assessment) -> Table:
    """Compare clean with worst case, every figure with its interval."""
    columns = (
        Column("figure", "Name", hidden=True),
        Column("title", "Figure"),
        Column("clean", "Clean", "interval"),
        Column("worst", "Worst case", "interval"),
        Column("slack", "Spared, at most", "share"),
        Column("loss", "Lost", "interval"),
        Column("constant", "One class everywhere", "share"),
    )
    rows: Rows = tuple(
        (
            *(figure, title(figure), assessment.clean_interval(figure), assessment.worst_interval(figure)),
            *(slack(assessment, figure), assessment.loss(figure), assessment.constant(figure)),
        )
        for figure in assessment.figures
    )
    note = (
        "With 95 % intervals over images; that of the worst case keeps the perturbation chosen per image."
        " Spared, at most: by how much it might be lower if no finished image had been spared the rest of a battery."
        " One class everywhere: a model that looks at nothing and says the commonest class"
        f" ({assessment.commonest} over all pixels); what is not above it proves no robustness."
    )
    return Table("robust", "Clean and robust", columns, rows, note)


@tables.register("perturbations")
def perturbations(assessment: Assessment) -> Table:
    """Return one line per perturbation: what it leaves, on how many images, at what cost."""
    columns = (
        Column("perturbation", "Perturbation"),
        Column("about", "Settings", hidden=True),
        *(
            Column(name, title(name), "share", hidden=name not in headline(), best="lowest")
            for name in assessment.figures
        ),
        Column("strongest_accuracy", "Strongest by accuracy", "count", hidden=True),
        Column("strongest_miou", "Strongest by mIoU", "count", hidden=True),
        Column("images", "Images", "count"),
        Column("errors", "Errors", "count"),
        Column("skipped", "Skipped", "count"),
        Column("forwards", "Forwards", "count"),
        Column("backwards", "Backwards", "count"),
    )
    strongest = [np.sum(assessment.strongest(figure), axis=0) for figure in ("accuracy", "nmiou")]
    rows: Rows = tuple(
        (
            *(outcome.label, outcome.about),
            *(assessment.score(figure, outcome.label) for figure in assessment.figures),
            *(int(times[number]) for times in strongest),
            int(outcome.answered.sum()),
            *(len(outcome.rows.images(status)) for status in ("error", "skipped")),
            *outcome.rows.passes(),
        )
        for number, outcome in enumerate(assessment.study.outcomes, start=1)
    )
    return Table("perturbations", "One perturbation at a time", columns, rows, _skipping(assessment.study))


@tables.register("leave_out")
def leave_out(assessment: Assessment) -> Table | None:
    """Return one line per perturbation: by how much the worst case rises if it alone had not been tried.

    Only of exhaustive runs: what the others would have left of an image that was spared them is not known."""
    if assessment.untried.any() or len(assessment.labels) <= 2:
        return None
    columns = (
        Column("perturbation", "Without"),
        *(Column(figure, f"{title(figure)}, rise", "share") for figure in headline()),
    )
    rows: Rows = tuple(
        (label, *(assessment.worst_without(figure, label) - assessment.worst_score(figure) for figure in headline()))
        for label in assessment.labels[1:]
    )
    note = "A perturbation without which nothing rises added nothing that the others do not find."
    return Table("leave_out", "Is every perturbation needed?", columns, rows, note)


def _skipping(study: Study) -> str:
    if not any(outcome.rows.images("skipped") for outcome in study.outcomes):
        return ""
    left = f"at most {100 * study.done_at:g} % of their pixels right" if study.done_at else "no correct pixel left"
    return (
        f"Skipped images had {left} after an earlier perturbation, so the figures of the later ones are over the other"
        " images and who is strongest counts only those tried. What that may cost a worst case stands beside it."
    )


@tables.register("classes")
def classes(assessment: Assessment) -> Table:
    """Return one line per class: IoU where CmIoU is worst, accuracy where accuracy is worst."""
    columns = (
        Column("class", "Class"),
        Column("pixels", "True pixels", "count"),
        Column("iou_clean", "IoU, clean", "share"),
        Column("iou_robust", "IoU, robust", "share"),
        Column("accuracy_clean", "Accuracy, clean", "share"),
        Column("accuracy_robust", "Accuracy, robust", "share"),
    )
    before, after = class_table(assessment.candidate("cmiou")), class_table(assessment.worst["cmiou"].counts)
    correct = class_table(assessment.worst["accuracy"].counts)
    shares = (before.iou, after.iou, before.accuracy, correct.accuracy)
    rows: Rows = tuple(
        (name, int(before.actual[number]), *(float(share[number]) for share in shares))
        for number, name in enumerate(assessment.study.classes)
    )
    return Table("classes", "Class by class", columns, rows, folded=True)


@tables.register("sizes")
def sizes(assessment: Assessment) -> Table:
    """Return one line per tenth of the objects by area: the share of an object that is right, mean over objects."""
    columns = (
        Column("smallest", "Smallest, pixels", "count"),
        Column("largest", "Largest, pixels", "count"),
        Column("objects", "Objects", "count"),
        Column("clean", "Right, clean", "share"),
        Column("robust", "Right, robust", "share"),
    )
    rows: Rows = tuple(
        (clean.smallest, clean.largest, clean.objects, clean.share, worst.share)
        for clean, worst in assessment.survival()
    )
    return Table("sizes", "Small objects and large ones", columns, rows, folded=True)
