"""Pixels that stand in the worst case are counted for every image, with the margins of the attack that was worst."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from segstress.reports.study.assessment import assess
from segstress.reports.study.pixels_right import ALL, pixels_right
from segstress.reports.study.summary import summary
from segstress.results.rows import ImageRows
from segstress.results.study import Study


def with_margins(tiny: Study) -> Study:
    x, y = tiny.outcomes
    lines = (replace(x.rows[0], margin_10=0.1, margin_50=0.2, margin_90=0.3), *x.rows[1:])
    others = (y.rows[0], replace(y.rows[1], margin_10=0.3, margin_50=0.4, margin_90=0.5))
    return replace(tiny, outcomes=(replace(x, rows=ImageRows.of(lines)), replace(y, rows=ImageRows.of(others))))


def test_each_image_shows_what_its_worst_attack_leaves(tiny: Study) -> None:
    every, first, second = pixels_right(assess(with_margins(tiny))).rows
    assert first == ("first", 10, 2, 0.2, 0.1, 0.2, 0.3)  # by x, for accuracy
    assert second == ("second", 10, 4, 0.4, 0.3, 0.4, 0.5)  # by y; x failed
    assert every[:4] == (ALL, 20, 6, 0.3)
    assert every[4:] == pytest.approx((0.2, 0.3, 0.4))


def test_runs_of_older_versions_count_but_know_no_margins(tiny: Study) -> None:
    every, *_ = pixels_right(assess(tiny)).rows
    assert every[:4] == (ALL, 20, 6, 0.3)
    assert all(math.isnan(value) for value in every[4:])
    (found,) = summary([tiny])["runs"]
    unknown = dict.fromkeys(("margin_10", "margin_50", "margin_90"))
    assert found["pixels_right"][ALL] == {"valid": 20, "correct": 6, "share": 0.3, **unknown}
