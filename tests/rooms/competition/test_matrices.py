"""Aggressiveness and resistance: identities, empty subsets, images that count more than once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segstress.competition.cases import cases, quality_bins, rank_correlation, transfer
from segstress.competition.matrices import Scored, aggressiveness, coverage, performance, resistance

MODELS = 4


def some(seed: int, members: int = 80) -> Scored:
    random = np.random.default_rng(seed)
    defenders = random.integers(MODELS, size=members)
    attackers = (defenders + random.integers(1, MODELS, size=members)) % MODELS
    _, images = np.unique(random.integers(30, size=members), return_inverse=True)
    return Scored(MODELS, images, defenders, attackers, random.integers(5, size=members), *random.random((2, members)))


@given(st.integers(0, 2**32 - 1))
def test_resistance_is_the_inverse_of_transposed_aggressiveness(seed: int) -> None:
    mean_quality = performance(some(seed))
    a, r = aggressiveness(mean_quality), resistance(mean_quality)
    np.testing.assert_allclose(r, 1 / a.T, rtol=1e-12)
    assert (a.diagonal() == 1).all()


@given(st.integers(0, 2**32 - 1), st.permutations(range(MODELS)))
def test_renaming_models_permutes_the_matrix(seed: int, order: list[int]) -> None:
    scored, new = some(seed), np.array(order)
    renamed = Scored(
        MODELS,
        scored.images,
        new[scored.defenders],
        new[scored.attackers],
        scored.classes,
        scored.defended,
        scored.attacked,
    )
    expected = aggressiveness(performance(scored))
    np.testing.assert_allclose(aggressiveness(performance(renamed))[np.ix_(new, new)], expected, rtol=1e-12)


def test_means_are_over_images_then_over_classes() -> None:
    scored = Scored(
        2,
        images=np.array([0, 1, 2, 0]),
        defenders=np.array([0, 0, 0, 0]),
        attackers=np.array([1, 1, 1, 1]),
        classes=np.array([1, 1, 2, 3]),
        defended=np.array([0.2, 0.4, 0.9, 0.2]),
        attacked=np.array([0.5, 0.7, 0.1, 0.5]),
    )
    mean_quality = performance(scored)
    assert mean_quality.defender[0, 1] == pytest.approx((0.3 + 0.9 + 0.2) / 3)
    assert mean_quality.attacker[0, 1] == pytest.approx((0.6 + 0.1 + 0.5) / 3)
    assert np.isnan(mean_quality.defender[1, 0])
    assert np.isnan(aggressiveness(mean_quality)[0, 1])
    assert aggressiveness(mean_quality, smooth=0)[1, 0] == pytest.approx(1.2 / 1.4)
    classes, images = coverage(scored)
    assert (classes[0, 1], images[0, 1], classes[1, 0]) == (3, 3, 0)


@given(st.integers(0, 2**32 - 1))
def test_equal_weights_reproduce_the_point_estimate(seed: int) -> None:
    scored = some(seed)
    drawn = performance(scored, np.full((2, scored.distinct), 3.0))
    np.testing.assert_allclose(drawn.defender[1], performance(scored).defender)


def test_weight_zero_is_the_same_as_leaving_the_image_out() -> None:
    scored = some(1)
    weights = np.ones((1, scored.distinct))
    weights[0, 0] = 0
    keep = scored.images != 0
    arrays = (scored.defenders, scored.attackers, scored.classes, scored.defended, scored.attacked)
    rest = Scored(MODELS, scored.images[keep] - 1, *(array[keep] for array in arrays))
    np.testing.assert_allclose(performance(scored, weights).attacker[0], performance(rest).attacker)


def test_both_zero_is_a_draw() -> None:
    one = np.array([0])
    scored = Scored(2, one, one, one + 1, one, np.zeros(1), np.zeros(1))
    assert aggressiveness(performance(scored))[1, 0] == 1


def test_a_class_can_be_left_out() -> None:
    scored = some(2)
    rest = scored.without_class(3)
    assert 3 not in rest.classes
    assert len(rest.images) == (scored.classes != 3).sum()


def test_cases_count_failures() -> None:
    one = np.array([0, 0, 0])
    scored = Scored(2, np.arange(3), one, one + 1, one, np.array([0.9, 0.9, 0.1]), np.array([0.6, 0.2, 0.3]))
    assert cases(scored)[0, 1].tolist() == [1, 1, 1]
    assert cases(scored, failed=0.95)[0, 1].tolist() == [0, 0, 3]


def test_transfer_tells_own_images_from_others() -> None:
    quality = np.arange(6.0).reshape(2, 3)
    scored = Scored(3, np.array([0]), np.array([0]), np.array([1]), np.array([1]), np.zeros(1), np.zeros(1))
    own, others = zip(*transfer(quality, scored), strict=True)
    assert [values.tolist() for values in own] == [[0], [1], []]
    assert [values.tolist() for values in others] == [[3], [4], [2, 5]]


def test_bins_and_correlations() -> None:
    assert quality_bins(np.array([[0.1, 0.25], [1.0, np.nan]])).tolist() == [1, 1, 0, 0, 1]
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == (1, 1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == (-1, -1)
    assert np.isnan(rank_correlation([1, 1, 1], [3, 2, 1])).all()
