"""The tables that sum up: models side by side, clean against worst case, perturbations, classes, sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...metrics.scores import class_table
from ...results.study import Study
from ..kit.naming import plural
from ..kit.table import Cell, Column, Rows, Table
from .assessment import Assessment, title
from .sparing import slack

HEADLINE = ("accuracy", "cmiou", "nmiou")


def comparison(assessments: Sequence[Assessment]) -> Table:
    """One line per study: what is right on clean images and what is left in the worst case.

    Below them, for each dataset, what a model reaches that says its commonest class everywhere."""
    columns = (
        Column("model", "Model"),
        Column("data", "Data"),
        Column("threat", "Threat"),
        Column("battery", "Battery"),
        Column("images", "Images", "count"),
        Column("perturbations", "Perturbations", "count"),
        *(
            Column(f"{figure}_{state}", f"{title(figure)}, {state}", "share")
            for figure in HEADLINE
            for state in ("clean", "robust")
        ),
    )
    rows: Rows = tuple(
        (
            *(judged.study.model, judged.study.data, judged.study.threat, judged.study.battery),
            *(int(judged.answered[0].sum()), len(judged.study.outcomes)),
            *(score for figure in HEADLINE for score in (judged.score(figure), judged.worst_score(figure))),
        )
        for judged in assessments
    )
    sets = {(judged.study.data, judged.study.ids): judged for judged in reversed(assessments)}
    rows += tuple(_constant(judged) for judged in reversed(sets.values()))
    return Table("comparison", "All models", columns, rows)


def _constant(judged: Assessment) -> tuple[Cell, ...]:
    """A model that looks at nothing, on which every perturbation is lost."""
    scores = (score for figure in HEADLINE for score in [judged.constant(figure)] * 2)
    return (f"always {judged.commonest}", judged.study.data, "", "", int(judged.answered[0].sum()), 0, *scores)


def robust(judged: Assessment) -> Table:
    """Clean against worst case, every figure with its interval."""
    columns = (
        Column("figure", "Name"),
        Column("title", "Figure"),
        Column("clean", "Clean", "interval"),
        Column("worst", "Worst case", "interval"),
        Column("slack", "Spared, at most", "share"),
        Column("loss", "Lost", "interval"),
        Column("constant", "One class everywhere", "share"),
    )
    rows: Rows = tuple(
        (
            *(figure, title(figure), judged.clean_interval(figure), judged.worst_interval(figure)),
            *(slack(judged, figure), judged.loss(figure), judged.constant(figure)),
        )
        for figure in judged.figures
    )
    note = (
        "With 95 % bootstrap intervals over images; that of the worst case keeps the perturbation chosen per image."
        " Spared, at most: by how much it might be lower if no finished image had been spared the rest of a battery."
        " One class everywhere: a model that looks at nothing and says the commonest class"
        f" ({judged.commonest} over all pixels); what is not above it proves no robustness."
    )
    return Table("robust", "Clean and robust", columns, rows, note)


def perturbations(judged: Assessment) -> Table:
    """One line per perturbation: what it leaves, on how many images, at what cost."""
    columns = (
        Column("perturbation", "Perturbation"),
        Column("about", "Settings"),
        *(Column(figure, title(figure), "share") for figure in judged.figures),
        Column("strongest_accuracy", "Strongest by accuracy", "count"),
        Column("strongest_miou", "Strongest by mIoU", "count"),
        Column("images", "Images", "count"),
        Column("errors", "Errors", "count"),
        Column("skipped", "Skipped", "count"),
        Column("forwards", "Forwards", "count"),
        Column("backwards", "Backwards", "count"),
    )
    strongest = [np.sum(judged.strongest(figure), axis=0) for figure in ("accuracy", "nmiou")]
    rows: Rows = tuple(
        (
            *(outcome.label, outcome.about),
            *(judged.score(figure, outcome.label) for figure in judged.figures),
            *(int(times[place]) for times in strongest),
            int(outcome.answered.sum()),
            *(len(outcome.images(status)) for status in ("error", "skipped")),
            *outcome.passes,
        )
        for place, outcome in enumerate(judged.study.outcomes, start=1)
    )
    return Table("perturbations", "One perturbation at a time", columns, rows, _skipping(judged.study))


def leave_out(judged: Assessment) -> Table:
    """One line per perturbation: by how much the worst case rises if it alone had not been tried."""
    columns = (
        Column("perturbation", "Without"),
        *(Column(figure, f"{title(figure)}, rise", "share") for figure in HEADLINE),
    )
    rows: Rows = tuple(
        (label, *(judged.worst_without(figure, label) - judged.worst_score(figure) for figure in HEADLINE))
        for label in (judged.labels[1:] if len(judged.labels) > 2 else ())
    )
    missed = int(judged.untried.sum())
    note = (
        f"Not every perturbation was tried on {plural(missed, 'image')}; what the others would have left of them is not"
        " known, so these figures cannot be trusted. Run with --exhaustive to know."
        if missed
        else "A perturbation without which nothing rises added nothing that the others do not find."
    )
    return Table("leave_out", "Is every perturbation needed?", columns, rows, note)


def _skipping(study: Study) -> str:
    if not any(outcome.images("skipped") for outcome in study.outcomes):
        return ""
    left = f"at most {100 * study.done_at:g} % of their pixels right" if study.done_at else "no correct pixel left"
    return (
        f"Skipped images had {left} after an earlier perturbation, so the figures of the later ones are over the other"
        " images and who is strongest counts only those tried. What that may cost a worst case stands beside it."
    )


def classes(judged: Assessment) -> Table:
    """One line per class: IoU where CmIoU is worst, accuracy where accuracy is worst."""
    columns = (
        Column("class", "Class"),
        Column("pixels", "True pixels", "count"),
        Column("iou_clean", "IoU, clean", "share"),
        Column("iou_robust", "IoU, robust", "share"),
        Column("accuracy_clean", "Accuracy, clean", "share"),
        Column("accuracy_robust", "Accuracy, robust", "share"),
    )
    before, after = class_table(judged.counts("cmiou")[0]), class_table(judged.worst["cmiou"].counts)
    correct = class_table(judged.worst["accuracy"].counts)
    shares = (before.iou, after.iou, before.accuracy, correct.accuracy)
    rows: Rows = tuple(
        (name, int(before.actual[place]), *(float(share[place]) for share in shares))
        for place, name in enumerate(judged.study.classes)
    )
    return Table("classes", "Class by class", columns, rows)


def sizes(judged: Assessment) -> Table:
    """One line per tenth of the objects by area: the share of an object that is right, mean over objects."""
    columns = (
        Column("smallest", "Smallest, pixels", "count"),
        Column("largest", "Largest, pixels", "count"),
        Column("objects", "Objects", "count"),
        Column("clean", "Right, clean", "share"),
        Column("robust", "Right, robust", "share"),
    )
    rows: Rows = tuple(
        (clean.smallest, clean.largest, clean.objects, clean.share, worst.share) for clean, worst in judged.survival()
    )
    return Table("sizes", "Small objects and large ones", columns, rows)
