"""The tables of parts that were attacked one by one: in all, class by class and by size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...metrics.intervals import Interval
from ..kit.table import Cell, Column, Table
from .assessment import Assessment
from .floors import FATES, STATES, UNKNOWN, ObjectFates, attacked_alone, object_fates, pixel_shares
from .registry import tables

MEANING = (
    "Attacked alone, an object or a pixel meets the whole budget: the delta may act on all of the image, and only this"
    " part is aimed at. A joint attack shares one delta among all pixels, so its worst case lies above the individually"
    " robust share. Both are upper bounds on robustness: the latter, too, is found by attack, and a stronger one may"
    " find less."
)


@tables.register("floors")
def floors(assessment: Assessment) -> Table | None:
    """Return one line per figure: objects lost, objects erased, pixels right; clean, under joint attack and alone."""
    if not assessment.study.alone:
        return None
    columns = (
        Column("figure", "Name", hidden=True),
        Column("title", "Figure"),
        *(Column(state, words.capitalize(), "interval") for state, words in STATES.items()),
    )
    rows: list[tuple[Cell, ...]] = []
    fates, pixels = object_fates(assessment), pixel_shares(assessment)
    if fates is not None:
        for fate, words in FATES.items():
            shares = (fates.share(fate, state) for state in STATES)
            rows.append((f"objects_{fate}", f"Objects {fate} ({words})", *shares))
    if pixels is not None:
        shares = (pixels.get(state, UNKNOWN) for state in STATES)
        rows.append(("pixels_robust", "Pixels right (alone: individually robust share)", *shares))
    return Table("floors", "Each object and pixel by itself", columns, tuple(rows), _note(assessment), MEANING)


def _note(assessment: Assessment) -> str:
    sentences = ["With 95 % intervals over images."]
    objects, pixels = (attacked_alone(assessment, parts) for parts in ("objects", "pixels"))
    if objects is not None:
        sentences.append("Objects: 8-connected pieces of a class in the truth, void and background left out.")
    if pixels is not None:
        sentences.append(
            "Pixels: drawn at random among the valid ones of each image, also those wrong on the clean image, which"
            " need no attack; each stands for its share of the image's valid pixels. In the joint worst case: all of"
            " these."
        )
    measured = int(assessment.answered[0].sum())
    for alone in filter(None, (objects, pixels)):
        images = int((assessment.answered[0] & alone.outcome.answered).sum())
        if images < measured:
            sentences.append(f"{images} of {measured} images have a result for {alone.parts}.")
    return " ".join(sentences)


@tables.register("floor_classes")
def floor_classes(assessment: Assessment) -> Table | None:
    """Return one line per class: its objects lost and erased."""
    if not assessment.study.alone:
        return None
    fates, rows = object_fates(assessment), list[tuple[Cell, ...]]()
    if fates is not None:
        for klass in np.unique(fates.klass):
            among = fates.klass == klass
            rows.append((assessment.study.classes[klass], int(among.sum()), *_shares(fates, among)))
    columns = (Column("class", "Class"), Column("objects", "Objects", "count"), *_columns())
    return Table("floor_classes", "Objects attacked alone, class by class", columns, tuple(rows), folded=True)


@tables.register("floor_sizes")
def floor_sizes(assessment: Assessment) -> Table | None:
    """Return one line per tenth of the objects by area: those lost and erased."""
    if not assessment.study.alone:
        return None
    fates, rows = object_fates(assessment), list[tuple[Cell, ...]]()
    if fates is not None:
        for among in fates.sizes():
            area = fates.area[among]
            rows.append((int(area.min()), int(area.max()), int(among.sum()), *_shares(fates, among)))
    columns = (
        Column("smallest", "Smallest, pixels", "count"),
        Column("largest", "Largest, pixels", "count"),
        Column("objects", "Objects", "count"),
        *_columns(),
    )
    return Table("floor_sizes", "Objects attacked alone, small and large", columns, tuple(rows), folded=True)


def _columns() -> Iterator[Column]:
    for fate in FATES:
        for state, words in STATES.items():
            yield Column(f"{fate}_{state}", f"{fate.capitalize()}, {words}", "interval")


def _shares(fates: ObjectFates, among: np.ndarray) -> Iterator[Interval]:
    return (fates.share(fate, state, among) for fate in FATES for state in STATES)
