"""A study small enough to be judged by hand, and one that looks real."""

from __future__ import annotations

import numpy as np
import pytest
import sample_study

from segstress.results.rows import ImageRow, ImageRows
from segstress.results.study import Objects, Outcome, Study


@pytest.fixture(scope="session")
def real() -> Study:
    return sample_study.study(images=12)


@pytest.fixture
def tiny() -> Study:
    """Two images of ten pixels, two classes; attack `x` fails on the second image, attack `y` answers both."""
    none = [[0, 0, 0], [0, 0, 0]]
    ids = ("first", "second")
    x = Outcome(
        label="x",
        about="",
        goals=("accuracy", "miou"),
        counts={
            ("accuracy", "all"): np.array([[[1, 4, 6], [1, 6, 4]], none]),
            ("miou", "all"): np.array([[[0, 0, 6], [4, 10, 4]], none]),
        },
        clean={},
        answered=np.array([True, False]),
        rows=ImageRows.of(
            [
                row("first", "accuracy", 3),
                row("first", "miou", 3),
                row("second", "accuracy", 1, "error", "no gradient"),
            ]
        ),
    )
    y = Outcome(
        label="y",
        about="",
        goals=("any",),
        counts={("any", "all"): np.array([[[3, 5, 6], [2, 5, 4]], [[0, 4, 2], [4, 6, 8]]])},
        clean={},
        answered=np.array([True, True]),
        rows=ImageRows.of([row("first", "any", 5), row("second", "any", 5)]),
    )
    return Study(
        model="m",
        data="d",
        eps=8 / 255,
        threat="linf 8/255",
        classes=("a", "b"),
        background=None,
        void="255",
        palette=((0, 0, 0), (255, 0, 0)),
        ids=ids,
        clean={"all": np.array([[[6, 6, 6], [4, 4, 4]], [[2, 4, 2], [6, 6, 8]]])},
        clean_answered=np.array([True, True]),
        outcomes=(x, y),
        objects=Objects(
            image=np.array([0, 0, 1, 1]),
            klass=np.array([0, 1, 0, 1]),
            area=np.array([6, 4, 2, 8]),
            clean=np.array([6, 4, 2, 6]),
            correct={"x": np.array([1, 1, 0, 0]), "y": np.array([3, 2, 0, 4])},
            kept={"x": np.array([1, 1, 0, 0]), "y": np.array([2, 2, 0, 4])},
        ),
        frames=(),
        warnings=(),
        provenance={"seed": "0"},
    )


def row(image: str, goal: str, passes: int, status: str = "ok", message: str = "") -> ImageRow:
    """A row whose sizes do not matter."""
    return ImageRow(image, goal, status, message, 0.03, 0.03, 1.0, 9.0, 0.5, passes, passes - 1)
