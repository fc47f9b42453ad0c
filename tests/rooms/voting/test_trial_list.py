"""Decks: blind, shuffled, balanced, stable when the selection grows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from sessions import MODELS, SECRET, questions

from segstress.core import BadInput, to_plain
from segstress.voting.trial_list import Question, TrialList, check_name, deal


def test_every_question_is_asked_once() -> None:
    trial_list = deal(questions(), "choose", "kim", SECRET)
    asked = Counter((trial.image, frozenset(trial.shown)) for trial in trial_list.trials)
    assert set(asked.values()) == {1}
    assert len(asked) == 30


def test_sides_are_balanced_in_every_pair() -> None:
    trial_list = deal(questions(11), "choose", "kim", SECRET)
    left = Counter(trial.shown for trial in trial_list.trials)
    for first in MODELS:
        for second in MODELS:
            assert abs(left[first, second] - left[second, first]) <= 1


def test_people_see_different_orders_and_sides() -> None:
    kim, lee = (deal(questions(), "choose", rater, SECRET) for rater in ("kim", "lee"))
    assert [trial.image for trial in kim.trials] != [trial.image for trial in lee.trials]
    assert not {trial.id for trial in kim.trials} & {trial.id for trial in lee.trials}
    sides = {(t.image, frozenset(t.shown)): t.shown for t in kim.trials}
    assert any(sides[t.image, frozenset(t.shown)] != t.shown for t in lee.trials)


def test_no_image_twice_in_a_row() -> None:
    trial_list = deal(questions(), "choose", "kim", SECRET, repeats=0.2)
    assert all(first.image != second.image for first, second in pairwise(trial_list.trials))


def test_repeats_swap_sides() -> None:
    trial_list = deal(questions(), "choose", "kim", SECRET, repeats=0.2)
    again = [trial for trial in trial_list.trials if trial.repeat]
    assert len(again) == 6
    first = {(t.image, frozenset(t.shown)): t.shown for t in trial_list.trials if not t.repeat}
    assert all(first[t.image, frozenset(t.shown)] == t.shown[::-1] for t in again)
    assert len({trial.id for trial in trial_list.trials}) == len(trial_list.trials)


def test_a_grown_selection_keeps_what_was_dealt() -> None:
    before = deal(questions(5), "choose", "kim", SECRET, repeats=0.2)
    after = deal(questions(8), "choose", "kim", SECRET, repeats=0.2, before=before)
    assert after.trials[: len(before.trials)] == before.trials
    assert deal(questions(8), "choose", "kim", SECRET, repeats=0.2, before=after) == after
    shrunk = deal(questions(3), "choose", "kim", SECRET, before=before)
    assert {trial.image for trial in shrunk.trials} == {"image0", "image1", "image2"}


def test_decks_survive_json() -> None:
    trial_list = deal(questions(2), "choose", "kim", SECRET)
    assert TrialList(**to_plain(trial_list)) == trial_list


def test_screening_asks_about_each_class() -> None:
    asked = [Question(image="a", classes=("cat",)), Question(image="a", classes=("dog",))]
    trial_list = deal(asked, "screen", "kim", SECRET)
    assert sorted(trial.classes for trial in trial_list.trials) == [("cat",), ("dog",)]


@pytest.mark.parametrize("name", ["", "../kim", "kim/lee", "a" * 33, "-kim", "kim\n"])
def test_names_that_could_be_paths_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match="name"):
        check_name(name)
