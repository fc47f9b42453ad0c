"""Sentences that a reader of the worst case must know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from segstress.metrics.intervals import Interval
from segstress.reports.study.assessment import assess
from segstress.reports.study.caveats import FIRST_LOOK, caveats
from segstress.reports.study.figure_names import figures, selected_figures
from segstress.reports.study.main_tables import leave_out
from segstress.reports.study.page import StudySection
from segstress.reports.study.sparing import slack
from segstress.reports.study.summary import summary
from segstress.results.rows import ImageRows
from segstress.results.study import AttackSelection, Study

CHOICE = AttackSelection(("x",), ("y",), 8, Interval(0.012, 0.0, 0.031), Interval(0.02, 0.01, 0.04))


def spared(tiny: Study) -> Study:
    """The second image was finished by x and never tried by y."""
    x, y = tiny.outcomes
    first = (True, False)
    counts = {key: table * [[[1]], [[0]]] for key, table in y.counts.items()}
    y = replace(
        y,
        answered=y.answered & first,
        counts=counts,
        rows=ImageRows.of([y.rows[0], replace(y.rows[1], status="skipped")]),
    )
    few = x.counts["accuracy", "all"].copy()
    few[1] = [[0, 5, 2], [1, 5, 8]]
    x = replace(x, answered=y.answered | True, counts={**x.counts, ("accuracy", "all"): few})
    return replace(tiny, outcomes=(x, y), done_at=0.1)


def test_nothing_is_said_of_a_plain_run(tiny: Study) -> None:
    assert caveats(assess(tiny)) == []


def test_an_adaptive_run_says_what_it_kept_dropped_and_lost(tiny: Study) -> None:
    (said,) = caveats(assess(replace(tiny, choice=CHOICE)))
    assert "all 2 attacks were tried on a sample of 8 images" in said
    assert "worth their passes there: x. Dropped: y." in said
    assert "accuracy too high by an estimated 1.2 points (95 % interval 0.0 to 3.1)" in said
    assert "NmIoU by 2.0 points" in said


def test_an_adaptive_run_that_dropped_nothing_says_so(tiny: Study) -> None:
    (said,) = caveats(assess(replace(tiny, choice=replace(CHOICE, kept=("x", "y"), dropped=()))))
    assert "all 2 attacks proved worth their passes" in said


def test_what_stands_on_spared_images_bounds_the_error(tiny: Study) -> None:
    (said,) = caveats(assess(spared(tiny)))
    assert "with at most 10 % of its pixels right counted as finished" in said
    assert "1 image in all" in said
    assert "in points at most: Accuracy by 5.0, CmIoU by" in said


def test_images_that_an_audit_left_untried_are_not_counted_as_finished(tiny: Study) -> None:
    (said,) = caveats(assess(replace(spared(tiny), done_at=0.05, choice=CHOICE)))
    assert "Adaptive battery" in said


def test_no_result_that_was_spared_could_lie_below_the_bound(tiny: Study) -> None:
    """Whatever the second attack might have made of the second image, every figure stays within its slack."""
    study = spared(tiny)
    judged, (x, y) = assess(study), study.outcomes
    slacks = {figure: slack(judged, figure) for figure in (*figures(), *selected_figures())}
    assert slacks["accuracy"] == pytest.approx(1 / 20)
    assert slacks["nmiou"] == pytest.approx(judged.worst["nmiou"].values[1] / 2)
    for hits in range(3):
        for wrong in range(9):  # pixels of b that are taken for a; those of a are taken for b, but for the hits
            counts = y.counts["any", "all"].copy()
            counts[1] = [[hits, hits + wrong, 2], [8 - wrong, 8 - wrong + 2 - hits, 8]]
            tried = assess(
                replace(study, outcomes=(x, replace(y, counts={("any", "all"): counts}, answered=x.answered)))
            )
            for figure in judged.figures:
                assert judged.worst_score(figure) - tried.worst_score(figure) <= slacks[figure] + 1e-12, figure


def test_where_nothing_was_spared_nothing_is_open(tiny: Study) -> None:
    judged = assess(replace(tiny, done_at=0.5))
    assert caveats(judged) == []
    assert {slack(judged, figure) for figure in judged.figures} == {0.0}


def test_leave_one_out_is_told_of_exhaustive_runs_only(tiny: Study) -> None:
    assert leave_out(assess(spared(tiny))) is None
    assert leave_out(assess(tiny)) is not None


def test_quick_says_beside_its_figure_that_it_is_a_first_look(tiny: Study) -> None:
    for battery, said in (("quick v2", FIRST_LOOK), ("strong v2", None)):
        study = replace(tiny, battery=battery)
        (found,) = summary([study])["runs"]
        assert found["first_look"] == said
        headline = StudySection("m", {}, {}, [], assess(study)).headline
        assert (f"({FIRST_LOOK})" in headline) == (said is not None)
