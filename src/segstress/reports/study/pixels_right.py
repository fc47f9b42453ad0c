"""Pixels that stand in the worst case, and how far they are from falling."""

from __future__ import annotations

import math

import numpy as np

from ...metrics.counts import ACTUAL, HITS
from ...results.rows import ImageRow
from ..kit.table import Cell, Column, Table
from .assessment import Assessment
from .registry import tables

QUANTILES = ("margin_10", "margin_50", "margin_90")
ALL = "all images"


@tables.register("pixels_right")
def pixels_right(assessment: Assessment) -> Table:
    """Return one line per image, and one for all: the pixels still right where accuracy is worst, and their margins."""
    columns = (
        Column("image", "Image"),
        Column("valid", "Pixels", "count"),
        Column("correct", "Still right", "count"),
        Column("share", "Share", "share"),
        *(Column(name, f"Margin, {name[-2:]} % below", "number") for name in QUANTILES),
    )
    answered = np.flatnonzero(assessment.answered[0]) if assessment.study.outcomes else np.array([], dtype=np.int64)
    counts = assessment.worst["accuracy"].counts[answered].sum(1)
    leads = np.array([_leads(assessment, image) for image in answered]).reshape(-1, len(QUANTILES))
    names = [assessment.study.ids[image] for image in answered]
    rows = [_row(name, count, lead) for name, count, lead in zip(names, counts, leads, strict=True)]
    if rows:
        known = leads[~np.isnan(leads).any(1)]
        typical = np.median(known, axis=0) if len(known) else np.full(len(QUANTILES), math.nan)
        rows.insert(0, _row(ALL, counts.sum(0), typical))
    note = (
        "Of each image under the perturbation that leaves the fewest of its pixels right. Margin: the lead of the true"
        " class over the next at a pixel still right, in units of the clean image's mean margin; so much of the clean"
        " confidence is left before the pixel falls. For all images: medians over those with a pixel still right."
    )
    return Table("pixels_right", "Pixels still right", columns, tuple(rows), note, folded=True)


def _row(name: str, counts: np.ndarray, leads: np.ndarray) -> tuple[Cell, ...]:
    hits, actual = int(counts[HITS]), int(counts[ACTUAL])
    return (name, actual, hits, hits / actual if actual else math.nan, *map(float, leads))


def _leads(assessment: Assessment, image: int) -> list[float]:
    """Return an image's quantiles where accuracy is worst; unknown if that is the clean image, or in older runs."""
    candidate = assessment.worst["accuracy"].chosen[image]
    row: ImageRow | None = None
    if candidate > 0:  # neither clean nor nobody
        outcome = assessment.study.outcomes[candidate - 1]
        row = outcome.rows.find(assessment.study.ids[image], outcome.for_goal("accuracy"))
    return [getattr(row, name) if row else math.nan for name in QUANTILES]
