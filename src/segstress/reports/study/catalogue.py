"""What the gallery's script knows of the pictures: whose they are, and every figure to filter or sort them by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...metrics.counts import ACTUAL
from ...metrics.scores import image_accuracy, image_miou
from ...results.study import Frame, Outcome, Study
from ..kit.frames import MAPS, amplification
from ..kit.pictures import is_large
from .assessment import Assessment
from .completeness import unanswered
from .gallery import COLUMNS, SHARED, FrameFiles

FILE, VARIABLE = "gallery/catalogue.js", "SEGSTRESS_GALLERY"
DIGITS = 5  # of a figure
UNANSWERED = "a perturbation has no answer"  # what to beware of


def catalogue(named: Sequence[tuple[str, Assessment]]) -> dict[str, Any] | None:
    """Return what the gallery shows of all studies, by the names of their parts of the page; None without a picture."""
    studies = [_study(name, assessment) for name, assessment in named if assessment.study.frames]
    columns = [{"name": name, "shared": name in SHARED, "map": name in MAPS} for name in COLUMNS]
    return {"columns": columns, "studies": studies} if studies else None


def _study(name: str, assessment: Assessment) -> dict[str, Any]:
    study, files = assessment.study, FrameFiles(assessment.study, name)
    images = {image: number for number, image in enumerate(files.images)}
    outcomes = {label: number for number, label in enumerate(files.outcomes)}
    indices = {image: index for index, image in enumerate(study.ids)}
    open_ = unanswered(assessment)
    by_label = {outcome.label: outcome for outcome in study.outcomes}
    return {
        "name": name,
        "model": study.model,
        "data": study.data,
        "threat": study.threat,
        "classes": [
            [label, "rgb({}, {}, {})".format(*colour)]
            for label, colour in zip(study.classes, study.palette, strict=True)
        ],
        "large": is_large(study.frames[0].truth),
        "outcomes": [[label, slug] for label, slug in files.outcomes.items()],
        "images": [
            [image, slug, *_about(study, indices[image]), UNANSWERED if open_[indices[image]] else ""]
            for image, slug in files.images.items()
        ],
        "frames": [
            [
                *(images[frame.image_id], outcomes[frame.outcome]),
                *_figures(by_label[frame.outcome], frame, indices[frame.image_id]),
            ]
            for frame in chain(study.frames, study.more or ())
        ],
    }


def _about(study: Study, index: int) -> list[Any]:
    """Return clean accuracy and mIoU of an image, the classes in its truth, the area of its smallest object."""
    counts = study.clean["all"][index : index + 1]
    areas = study.objects.area[study.objects.image == index]
    present = np.flatnonzero(counts[0, :, ACTUAL]).tolist()
    return [*_scores(counts), present, int(areas.min()) if len(areas) else None]


def _figures(outcome: Outcome, frame: Frame, index: int) -> list[Any]:
    """Return accuracy, mIoU, size of the delta, how much its picture is amplified, classes seen that are not there."""
    goal = outcome.for_goal("accuracy")
    row = outcome.rows.find(frame.image_id, goal)
    counts = outcome.counts[goal, "all"][index : index + 1]
    added = np.setdiff1d([*np.unique(frame.clean), *np.unique(frame.prediction)], frame.truth).tolist()
    return [*_scores(counts), _number(row.size if row else math.nan), amplification(frame), added]


def _scores(counts: np.ndarray) -> list[float | None]:
    return [_number(float(score(counts)[0])) for score in (image_accuracy, image_miou)]


def _number(value: float) -> float | None:
    return round(value, DIGITS) if math.isfinite(value) else None
