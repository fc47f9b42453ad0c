"""Aggressiveness and resistance: identities, empty subsets, images that count more than once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segstress.competition.cases import cases, quality_bins, rank_correlation, transfer
from segstress.competition.matrices import Judged, aggressiveness, coverage, performance, resistance

MODELS = 4


def some(seed: int, members: int = 80) -> Judged:
    random = np.random.default_rng(seed)
    defenders = random.integers(MODELS, size=members)
    attackers = (defenders + random.integers(1, MODELS, size=members)) % MODELS
    _, images = np.unique(random.integers(30, size=members), return_inverse=True)
    return Judged(MODELS, images, defenders, attackers, random.integers(5, size=members), *random.random((2, members)))


@given(st.integers(0, 2**32 - 1))
def test_resistance_is_the_inverse_of_transposed_aggressiveness(seed: int) -> None:
    found = performance(some(seed))
    a, r = aggressiveness(found), resistance(found)
    np.testing.assert_allclose(r, 1 / a.T, rtol=1e-12)
    assert (a.diagonal() == 1).all()


@given(st.integers(0, 2**32 - 1), st.permutations(range(MODELS)))
def test_renaming_models_permutes_the_matrix(seed: int, order: list[int]) -> None:
    judged, new = some(seed), np.array(order)
    renamed = Judged(
        MODELS,
        judged.images,
        new[judged.defenders],
        new[judged.attackers],
        judged.classes,
        judged.defended,
        judged.attacked,
    )
    expected = aggressiveness(performance(judged))
    np.testing.assert_allclose(aggressiveness(performance(renamed))[np.ix_(new, new)], expected, rtol=1e-12)


def test_means_are_over_images_then_over_classes() -> None:
    judged = Judged(
        2,
        images=np.array([0, 1, 2, 0]),
        defenders=np.array([0, 0, 0, 0]),
        attackers=np.array([1, 1, 1, 1]),
        classes=np.array([1, 1, 2, 3]),
        defended=np.array([0.2, 0.4, 0.9, 0.2]),
        attacked=np.array([0.5, 0.7, 0.1, 0.5]),
    )
    found = performance(judged)
    assert found.defender[0, 1] == pytest.approx((0.3 + 0.9 + 0.2) / 3)
    assert found.attacker[0, 1] == pytest.approx((0.6 + 0.1 + 0.5) / 3)
    assert np.isnan(found.defender[1, 0])
    assert np.isnan(aggressiveness(found)[0, 1])
    assert aggressiveness(found, smooth=0)[1, 0] == pytest.approx(1.2 / 1.4)
    classes, images = coverage(judged)
    assert (classes[0, 1], images[0, 1], classes[1, 0]) == (3, 3, 0)


@given(st.integers(0, 2**32 - 1))
def test_equal_weights_reproduce_the_point_estimate(seed: int) -> None:
    judged = some(seed)
    drawn = performance(judged, np.full((2, judged.distinct), 3.0))
    np.testing.assert_allclose(drawn.defender[1], performance(judged).defender)


def test_weight_zero_is_the_same_as_leaving_the_image_out() -> None:
    judged = some(1)
    weights = np.ones((1, judged.distinct))
    weights[0, 0] = 0
    keep = judged.images != 0
    arrays = (judged.defenders, judged.attackers, judged.classes, judged.defended, judged.attacked)
    rest = Judged(MODELS, judged.images[keep] - 1, *(array[keep] for array in arrays))
    np.testing.assert_allclose(performance(judged, weights).attacker[0], performance(rest).attacker)


def test_both_zero_is_a_draw() -> None:
    one = np.array([0])
    judged = Judged(2, one, one, one + 1, one, np.zeros(1), np.zeros(1))
    assert aggressiveness(performance(judged))[1, 0] == 1


def test_a_class_can_be_left_out() -> None:
    judged = some(2)
    rest = judged.without_class(3)
    assert 3 not in rest.classes
    assert len(rest.images) == (judged.classes != 3).sum()


def test_cases_count_failures() -> None:
    one = np.array([0, 0, 0])
    judged = Judged(2, np.arange(3), one, one + 1, one, np.array([0.9, 0.9, 0.1]), np.array([0.6, 0.2, 0.3]))
    assert cases(judged)[0, 1].tolist() == [1, 1, 1]
    assert cases(judged, failed=0.95)[0, 1].tolist() == [0, 0, 3]


def test_transfer_tells_own_images_from_others() -> None:
    quality = np.arange(6.0).reshape(2, 3)
    judged = Judged(3, np.array([0]), np.array([0]), np.array([1]), np.array([1]), np.zeros(1), np.zeros(1))
    own, others = zip(*transfer(quality, judged), strict=True)
    assert [values.tolist() for values in own] == [[0], [1], []]
    assert [values.tolist() for values in others] == [[3], [4], [2, 5]]


def test_bins_and_correlations() -> None:
    assert quality_bins(np.array([[0.1, 0.25], [1.0, np.nan]])).tolist() == [1, 1, 0, 0, 1]
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == (1, 1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == (-1, -1)
    assert np.isnan(rank_correlation([1, 1, 1], [3, 2, 1])).all()
