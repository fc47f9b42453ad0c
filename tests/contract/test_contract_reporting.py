"""The contract over every registered table and figure of a report."""

from __future__ import annotations

import math
from itertools import count

import pytest

from segstress.metrics.intervals import Interval
from segstress.reports.kit import Column, Drawing, Table, canvas
from segstress.reports.study.registry import drawings, tables
from segstress.testing import check_figure, check_table

CALLS = count()


@pytest.mark.parametrize("name", tables.names())
def test_tables(name):
    check_table(name)


@pytest.mark.parametrize("name", drawings.names())
def test_figures(name):
    check_figure(name)


def accuracy_in_percent(assessment):
    """A number that is no share."""
    return Table("t", "Accuracy", (Column("accuracy", "Accuracy", "share"),), ((100 * assessment.score("accuracy"),),))


def only_of_attacks(assessment):
    """A table that takes for granted that something was attacked."""
    return Table("t", "First", (Column("label", "Attack"),), ((assessment.study.outcomes[0].label,),))


def counting(assessment):
    """A table that remembers."""
    return Table("t", "Calls", (Column("calls", "Calls", "count"),), ((next(CALLS),),))


def meddling(assessment):
    """A table that changes what it reads."""
    assessment.study.clean["all"][...] += 1
    return Table("t", "Nothing", (Column("nothing", "Nothing"),), ())


def with_keys_twice(assessment):
    """Two columns that no reader of the CSV can tell apart."""
    return Table("t", "Twice", (Column("same", "One"), Column("same", "Two")), (("a", "b"),))


def never_made(assessment):
    """A table that nobody sees."""
    return


def beside_its_bounds(assessment):
    """An interval that does not hold its own value."""
    wrong = Interval(0.5, 0.9, 1.0)
    return Table("t", "Accuracy", (Column("accuracy", "Accuracy", "interval"),), ((wrong,),))


def without_bounds(assessment):
    """A number where an interval belongs, which no file can be written of."""
    return Table("t", "Accuracy", (Column("accuracy", "Accuracy", "interval"),), ((math.nan,),))


PLANTED = (
    accuracy_in_percent,
    counting,
    meddling,
    with_keys_twice,
    only_of_attacks,
    never_made,
    beside_its_bounds,
    without_bounds,
)


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_bug_turns_the_contract_of_tables_red(planted):
    with pytest.raises((AssertionError, IndexError)):
        check_table(planted)


def wordless(assessment):
    """A figure that says nothing."""
    figure, _ = canvas(1.0)
    return Drawing("d", "Nothing", "", figure)


def unsteady(assessment):
    """A figure that differs each time."""
    figure, (axis,) = canvas(1.0)
    axis.set_title(str(next(CALLS)))
    return Drawing("d", "Calls", "How often.", figure)


@pytest.mark.parametrize("planted", [wordless, unsteady])
def test_planted_bug_turns_the_contract_of_figures_red(planted):
    with pytest.raises(AssertionError):
        check_figure(planted)
