"""Votes: what they credit, which are refused, how far people can be relied on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from segstress.competition.ranking import fit
from segstress.competition.raters import agreement, raters
from segstress.competition.select import Member
from segstress.competition.uncertainty import draw_weights, rank
from segstress.competition.votes import Vote, check_votes, tally
from segstress.core import BadInput

NAMES = ["a", "b", "c"]


def vote(number: int, image: str, left: str, right: str, choice: str, rater: str = "kim", **more: Any) -> Vote:
    return Vote(id=f"v{number}", image=image, left=left, right=right, choice=choice, rater=rater, **more)


def member(image: str, defender: int, attacker: int, class_: int = 1) -> Member:
    return Member(image, defender, attacker, class_, 0, 0.1, 0.3)


def many(seed: int = 0, count: int = 200) -> tuple[list[Vote], list[Member]]:
    random = np.random.default_rng(seed)
    votes, members = [], []
    for number in range(count):
        left, right = random.choice(3, 2, replace=False)
        members.append(member(f"i{number}", *((left, right) if random.random() < 0.5 else (right, left))))
        choice = str(random.choice(["left", "right", "tie"]))
        votes.append(vote(number, f"i{number}", NAMES[left], NAMES[right], choice))
    return votes, members


def test_attacker_and_defender_share_what_was_cast() -> None:
    votes, members = many()
    found = tally(votes, members, NAMES)
    cast = np.zeros((3, 3))
    for each in members:
        cast[each.defender, each.attacker] += 1
    np.testing.assert_allclose(found.attack() + found.defence().T, cast.T)
    assert found.overall().sum() == len(votes)


def test_sides_do_not_matter() -> None:
    votes, members = many()
    turned = {"left": "right", "right": "left", "tie": "tie"}
    swapped = [vote(n, v.image, v.right, v.left, turned[v.choice]) for n, v in enumerate(votes)]
    for name in ("overall", "attack", "defence", "roles"):
        np.testing.assert_array_equal(
            getattr(tally(votes, members, NAMES), name)(), getattr(tally(swapped, members, NAMES), name)()
        )


def test_one_vote_credits_every_membership_but_counts_once_overall() -> None:
    members = [member("x", 0, 1), member("x", 0, 1, class_=2), member("x", 1, 0)]
    found = tally([vote(0, "x", "b", "a", "left")], members, NAMES)
    assert found.overall()[1, 0] == 1
    assert found.attack()[1, 0] == 2
    assert found.defence()[1, 0] == 1


def test_ratios_of_votes_are_smoothed_and_missing_ones_left_out() -> None:
    votes = [vote(n, f"i{n}", "a", "b", "left") for n in range(3)]
    found = tally(votes, [member(f"i{n}", 1, 0) for n in range(3)], NAMES).ratios()
    assert found[0, 1] == 3.5 / 0.5
    assert np.isnan(found[1, 0])
    assert np.isnan(found[0, 2])


def test_roles_are_players_of_their_own() -> None:
    votes, members = many()
    roles = tally(votes, members, NAMES).roles()
    assert roles.shape == (6, 6)
    assert not roles[:3, :3].any()
    assert np.isfinite(fit(roles, prior=0.1)).all()


def test_repeats_and_rejections_count_for_nobody() -> None:
    votes = [vote(0, "x", "a", "b", "reject"), vote(1, "y", "a", "b", "left", repeat=True)]
    assert tally(votes, [member("x", 0, 1), member("y", 0, 1)], NAMES).overall().sum() == 0


def test_weights_multiply_votes() -> None:
    found = tally(*many(), NAMES)
    doubled = found.overall(np.full((1, found.distinct), 2.0))
    np.testing.assert_allclose(doubled[0], 2 * found.overall())


def test_people_who_disagree_widen_the_interval() -> None:
    def width(second: str) -> float:
        answers = {"kim": "left", "lee": second}
        votes = [vote(n, f"i{n}", "a", "b", choice, rater) for rater, choice in answers.items() for n in range(30)]
        found = tally(votes, [], ["a", "b"])
        ranking = rank(lambda weights: fit(found.overall(weights), prior=0.1), found.distinct, 200)
        return float(ranking.high[0] - ranking.low[0])

    assert width("right") > 10 * width("left")


def test_people_are_drawn_apart_from_images() -> None:
    """With as many people as images, one seed for both would draw a person whenever the image is."""
    number, draws = 40, 400
    found = tally([vote(n, f"i{n:02}", "a", "b", "left", f"r{n:02}") for n in range(number)], [], ["a", "b"])
    totals = found.overall(draw_weights(number, draws)).sum((1, 2))
    assert abs(totals.mean() / number - 1) < 0.1, (
        "the mean of a product of two weights, which is near 2 where they agree"
    )


def test_votes_are_checked() -> None:
    first = vote(0, "x", "a", "b", "left")
    assert check_votes([first, first], NAMES) == [first]
    with pytest.raises(BadInput, match="voted twice"):
        check_votes([first, vote(1, "x", "b", "a", "left")], NAMES)
    with pytest.raises(BadInput, match="on 'd'"):
        check_votes([vote(0, "x", "a", "d", "left")], NAMES)
    assert len(check_votes([first, vote(1, "x", "a", "b", "left", rater="lee")], NAMES)) == 2


def test_people_are_judged_too() -> None:
    votes = [vote(n, f"i{n}", "a", "b", "left") for n in range(20)]
    votes += [vote(30, "i0", "b", "a", "right", repeat=True), vote(31, "i1", "b", "a", "left", repeat=True)]
    (kim,) = raters(votes)
    assert (kim.votes, kim.repeats, kim.consistent) == (22, 2, 0.5)
    assert kim.left_share > 0.9
    assert kim.side_doubt < 0.001


def test_agreement_is_beyond_chance() -> None:
    choices = ["left", "right"] * 10
    kim = [vote(n, f"i{n}", "a", "b", choice) for n, choice in enumerate(choices)]
    same = [vote(n + 50, f"i{n}", "a", "b", choice, rater="lee") for n, choice in enumerate(choices)]
    half = [vote(n + 90, f"i{n}", "a", "b", "left", rater="max") for n in range(20)]
    found = agreement(kim + same + half)
    assert found["kim", "lee"] == (20, 1)
    assert found["kim", "max"] == (20, 0)


def test_ties_say_nothing_of_the_side_that_somebody_prefers() -> None:
    choices = ["left", "left", "right", "tie", "tie", "tie"]
    (kim,) = raters([vote(number, f"i{number}", "a", "b", choice) for number, choice in enumerate(choices)])
    assert kim.votes == 6
    assert kim.left_share == pytest.approx(2 / 3)
