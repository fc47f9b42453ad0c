"""Tables and figures say what the counts say."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np
import pytest

from segstress.reports.kit.table import Table
from segstress.reports.study.assessment import assess
from segstress.reports.study.image_tables import attempts, errors, images
from segstress.reports.study.main_tables import classes, perturbations, robust, sizes
from segstress.results.rows import ImageRows
from segstress.results.study import Study


def column(table: Table, key: str) -> list:
    place = [column.key for column in table.columns].index(key)
    return [row[place] for row in table.rows]


def test_robust_table_holds_each_figure_inside_its_interval(real: Study) -> None:
    table = robust(assess(real))
    assert len(table.rows) == 12
    for clean, worst, loss in zip(*(column(table, key) for key in ("clean", "worst", "loss")), strict=True):
        assert clean.low <= clean.value <= clean.high
        assert worst.low <= worst.value <= worst.high
        assert loss.value == pytest.approx(clean.value - worst.value)


def test_classes_average_to_the_worst_case(real: Study) -> None:
    judged = assess(real)
    table = classes(judged)
    assert np.mean(column(table, "iou_robust")) == pytest.approx(judged.worst_score("cmiou"))
    assert np.mean(column(table, "accuracy_robust")) == pytest.approx(judged.worst_score("mean_accuracy"))


def test_images_name_the_perturbation_that_hurts_most(tiny: Study) -> None:
    table = images(assess(tiny))
    assert column(table, "accuracy_by") == ["x", "y"]
    assert column(table, "accuracy_robust") == pytest.approx([0.2, 0.4])
    assert column(table, "miou_clean") == pytest.approx([1, 0.625])


def test_sizes_follow_the_attack_that_is_worst_for_the_image(tiny: Study) -> None:
    table = sizes(assess(tiny))
    assert column(table, "smallest") == [2, 4, 6, 8]
    assert column(table, "clean") == pytest.approx([1, 1, 1, 6 / 8])
    assert column(table, "robust") == pytest.approx([0, 1 / 4, 1 / 6, 4 / 8])


def test_strongest_counts_ties_apart(tiny: Study) -> None:
    twin = replace(tiny.outcomes[1], label="z")
    judged = assess(replace(tiny, outcomes=(*tiny.outcomes, twin)))
    alone, first = judged.strongest("accuracy")
    assert alone.tolist() == [0, 1, 0, 0]
    assert first.tolist() == [0, 0, 1, 0]


def test_attempts_read_the_goal_of_their_row_and_errors_are_named(tiny: Study) -> None:
    judged = assess(tiny)
    table = attempts(judged)
    assert column(table, "accuracy")[:2] == pytest.approx([0.2, 0.4])
    assert np.isnan(column(table, "accuracy")[2])
    assert errors(judged).rows == (("second", "x", "no gradient"),)


def test_skipped_images_are_counted_and_explained(tiny: Study) -> None:
    assert perturbations(assess(tiny)).note == ""
    x = tiny.outcomes[0]
    skipped = replace(x, rows=ImageRows.of([*x.rows[:2], replace(x.rows[2], status="skipped", message="")]))
    table = perturbations(assess(replace(tiny, outcomes=(skipped, tiny.outcomes[1]))))
    assert column(table, "skipped") == [1, 0]
    assert column(table, "errors") == [0, 0]
    assert "had no correct pixel left" in table.note
    loose = replace(tiny, outcomes=(skipped, tiny.outcomes[1]), done_at=0.001)
    assert "at most 0.1 % of their pixels right" in perturbations(assess(loose)).note


@pytest.mark.parametrize("name", ["real", "tiny"])
def test_one_candidate_is_counted_as_it_is_among_all(name: str, request: pytest.FixtureRequest) -> None:
    """And no more than one goal and zone is stacked at a time."""
    judged = assess(request.getfixturevalue(name))
    for figure in judged.figures:
        stack = judged.counts(figure)
        assert judged.counts(figure) is stack
        for number, label in enumerate(judged.labels):
            assert np.array_equal(judged.candidate(figure, label), stack[number])
            assert not stack[number][~judged.answered[number]].any()
    first = weakref.ref(judged.counts("accuracy"))
    del stack
    judged.counts("nmiou")
    assert first() is None
