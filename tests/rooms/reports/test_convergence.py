"""Accuracy against passes starts at clean and ends at what the attack, or all of them, have reached."""

from __future__ import annotations

from dataclasses import replace

import pytest

from segstress.reports.study.assessment import assess
from segstress.reports.study.convergence import BATTERY, convergence, convergence_drawing, descents
from segstress.results.study import Study


@pytest.fixture
def told(tiny: Study) -> Study:
    """Attack x failed on the second image; y was after two passes where it ended, on the first."""
    x, y = tiny.outcomes
    x = replace(x, traces={"first": {1: 10, 2: 6, 4: 2}})
    y = replace(y, traces={"first": {1: 10, 2: 5}, "second": {1: 8, 3: 4}})
    return replace(tiny, outcomes=(x, y))


def test_each_attack_by_hand(told: Study) -> None:
    x, y, _ = descents(assess(told))
    assert x.passes == [1, 2, 4]
    assert x.at([1, 2, 3, 4, 100]) == pytest.approx([10 / 10, 6 / 10, 6 / 10, 2 / 10, 2 / 10])
    assert y.at([1, 2, 3]) == pytest.approx([18 / 20, 13 / 20, 9 / 20])


def test_the_battery_adds_passes_up_and_keeps_the_fewest(told: Study) -> None:
    *_, battery = descents(assess(told))
    assert battery.label == BATTERY
    assert battery.passes == [1, 2, 3, 4, 5, 6]
    assert battery.at([1, 2, 3, 4, 6]) == pytest.approx([18 / 20, 14 / 20, 10 / 20, 6 / 20, 6 / 20])


def test_every_descent_ends_at_the_figure_of_the_other_tables(real: Study) -> None:
    judged = assess(real)
    *alone, battery = descents(judged)
    assert len(alone) == len(real.outcomes)
    for descent in alone:
        assert descent.at([10**6])[0] == pytest.approx(judged.score("accuracy", descent.label))
    assert battery.at([10**6])[0] == pytest.approx(judged.worst_score("accuracy"))
    table = convergence(judged)
    assert [row[-2] for row in table.rows] == pytest.approx([descent.at([10**6])[0] for descent in (*alone, battery)])


def test_without_traces_there_is_nothing_to_show(tiny: Study) -> None:
    judged = assess(tiny)
    assert descents(judged) == []
    assert convergence(judged).rows == ()
    assert convergence_drawing(judged) is None
