"""Made studies for what reports show: a plain one, and those in which answers are missing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..results.rows import ImageRow, ImageRows
from ..results.study import Objects, Outcome, Study


def toy_study(classes: int = 3, images: int = 3) -> Study:
    """Return the counts of random maps, clean and under one attack."""
    draw = np.random.default_rng(classes)

    def counted() -> np.ndarray:
        actual = draw.integers(0, 50, (images, classes))
        actual[:, 0] += 1
        hits = draw.integers(0, actual + 1)
        return np.stack([hits, hits + draw.integers(0, 5, actual.shape), actual], -1)

    ids = tuple(f"image-{number}" for number in range(images))
    rows = ImageRows.of(ImageRow(id_, "any", "ok", "", 0.03, 0.03, 1.0, 9.0, 0.5, 3, 3) for id_ in ids)
    counts, everyone = {("any", "all"): counted()}, np.ones(images, dtype=bool)
    outcome = Outcome("x", "", "attack", ("any",), counts, {}, everyone, rows)
    nothing = np.zeros(0, dtype=np.int64)
    return Study(
        model="m",
        data="d",
        eps=8 / 255,
        threat="linf 8/255",
        classes=tuple(f"class {number}" for number in range(classes)),
        background=None,
        void="255",
        palette=tuple((number % 256, 0, 0) for number in range(classes)),
        ids=ids,
        clean={"all": counted()},
        clean_answered=everyone,
        outcomes=(outcome,),
        objects=Objects(nothing, nothing, nothing, nothing, {"x": nothing}, {"x": nothing}),
        frames=(),
        warnings=(),
        provenance={"seed": "0"},
    )


def failed_study() -> Study:
    """Return a study in which every attack failed on every image."""
    study = toy_study()
    (outcome,) = study.outcomes
    rows = ImageRows.of(
        replace(row, status="error", message="no gradient", size=math.nan, damage=math.nan) for row in outcome.rows
    )
    empty = {key: 0 * table for key, table in outcome.counts.items()}
    nobody = np.zeros(len(study.ids), dtype=bool)
    return replace(study, outcomes=(replace(outcome, answered=nobody, rows=rows, counts=empty),))


def untrue_study() -> Study:
    """Return a study without any truth, so that every figure is NaN."""
    study = toy_study()
    return replace(study, clean={"all": 0 * study.clean["all"]}, clean_answered=np.zeros(len(study.ids), dtype=bool))


def clean_study() -> Study:
    """Return a study without any perturbation."""
    nothing = np.zeros(0, dtype=np.int64)
    return replace(toy_study(), outcomes=(), objects=Objects(nothing, nothing, nothing, nothing, {}, {}))


STUDIES = {
    "plain": toy_study,
    "one image": lambda: toy_study(images=1),
    "many classes": lambda: toy_study(classes=40),
    "all failed": failed_study,
    "no truth": untrue_study,
    "clean alone": clean_study,
}
