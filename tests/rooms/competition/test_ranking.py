"""Global ranking: closed forms, invariances, separability, intervals, and a planted truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_ndtr, ndtr

from segstress.competition.matrices import Scored, aggressiveness, performance
from segstress.competition.ranking import (
    PRIOR,
    _likelihood,
    bradley_terry,
    check_connected,
    fit,
    fit_ratios,
    geometric,
    perron,
    places,
    separable,
    thurstone,
)
from segstress.competition.uncertainty import draw_weights, rank
from segstress.core import BadInput

WON = np.array([[0, 5, 6], [0, 0, 4], [0, 1, 0]], dtype=float)  # the first never loses


def ratios(seed: int, models: int = 5) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(size=(models, models)))


def test_two_models_have_a_closed_form() -> None:
    first, second = fit(np.array([[1, 2], [0.8, 1]]))
    assert first - second == pytest.approx(0.565949, abs=1e-6)
    first, second = fit(np.array([[1, 2], [0.8, 1]]), "bradley-terry")
    assert first - second == pytest.approx(np.log(2 / 0.8))


@pytest.mark.parametrize(("prior", "expected"), [(1.0, (1.138, -0.258, -0.880)), (0.1, (1.776, -0.489, -1.287))])
def test_prior_holds_a_separable_fit(prior: float, expected: tuple[float, ...]) -> None:
    assert separable(WON)
    assert PRIOR == 0.1, "strengths of models that win every vote hang on it"
    np.testing.assert_allclose(fit(WON, prior=prior), expected, atol=1e-3)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100))
def test_scale_and_diagonal_of_the_weights_do_not_matter(seed: int, scale: float) -> None:
    weights = ratios(seed)
    changed = scale * weights + 7 * np.eye(5)
    np.testing.assert_allclose(fit(changed), fit(weights), atol=1e-7)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["thurstone", "bradley-terry"]), st.floats(0, 2))
def test_gradient_equals_finite_differences(seed: int, link: str, prior: float) -> None:
    weights = ratios(seed) * ~np.eye(5, dtype=bool)
    at = np.random.default_rng(seed + 1).normal(size=5)
    hold = np.array([prior])
    _, gradient, curvature = _likelihood(at[None], weights[None], link, hold)
    step = 1e-6
    numeric = approx_fprime(at, lambda mu: _likelihood(mu[None], weights[None], link, hold)[0][0], step)
    np.testing.assert_allclose(gradient[0], numeric, atol=1e-3)
    slopes = [_likelihood((at + step * axis)[None], weights[None], link, hold)[1][0] for axis in np.eye(5)]
    np.testing.assert_allclose(-curvature[0], (np.array(slopes) - gradient[0]) / step, atol=1e-3)


def test_agrees_with_a_general_optimiser() -> None:
    weights = ratios(3)
    off = weights * ~np.eye(5, dtype=bool)
    found = minimize(lambda mu: -(off * log_ndtr(mu[:, None] - mu)).sum(), np.zeros(5), tol=1e-12).x
    np.testing.assert_allclose(fit(weights), found - found.mean(), atol=1e-4)


def test_draws_are_fitted_side_by_side() -> None:
    draws = np.stack([ratios(seed) for seed in range(4)])
    np.testing.assert_allclose(fit(draws), [fit(draw) for draw in draws], atol=1e-8)


@pytest.mark.parametrize("link", [thurstone, bradley_terry])
def test_links_stay_finite_far_out(link: object) -> None:
    curve = link(np.array([-40.0, 0.0, 40.0]))  # type: ignore[operator]
    assert all(np.isfinite(part).all() for part in curve)
    assert curve.value[1] == pytest.approx(np.log(0.5))


def test_missing_pairs_count_nothing() -> None:
    weights = ratios(4)
    weights[0, 1] = np.nan
    zeroed = np.nan_to_num(weights, nan=0.0)
    np.testing.assert_allclose(fit(weights), fit(zeroed))
    assert np.isnan(perron(weights)).all()
    assert np.isfinite(geometric(weights)).all()


def test_groups_that_nothing_joins_do_not_break_a_draw() -> None:
    weights = np.zeros((4, 4))
    weights[0, 1], weights[1, 0] = 2, 0.8
    first, second, *alone = fit(weights)
    assert first - second == pytest.approx(0.565949, abs=1e-5)
    np.testing.assert_allclose(alone, 0, atol=1e-4)


def test_missing_subsets_get_a_prior_and_complete_ones_none() -> None:
    whole = ratios(5)
    one_way = np.full((3, 3), np.nan)
    one_way[0, 1] = one_way[1, 2] = 1.5
    np.testing.assert_array_equal(fit_ratios(whole), fit(whole))
    np.testing.assert_array_equal(fit_ratios(one_way), fit(one_way, prior=PRIOR))
    assert np.abs(fit_ratios(one_way)).max() < 3
    np.testing.assert_allclose(fit_ratios(np.stack([whole, whole])), [fit(whole)] * 2, atol=1e-9)


def test_all_methods_find_consistent_ratios() -> None:
    strengths = np.array([0.9, 0.1, -0.3, -0.7])
    weights = np.exp(strengths[:, None] - strengths)
    for method in (perron, geometric):
        np.testing.assert_allclose(method(weights), strengths, atol=1e-9)
    assert places(fit(weights)).tolist() == places(fit(weights, "bradley-terry")).tolist() == [1, 2, 3, 4]


def test_disconnected_models_are_named() -> None:
    weights = np.full((4, 4), np.nan)
    weights[0, 1] = weights[1, 0] = weights[2, 3] = weights[3, 2] = 1
    with pytest.raises(BadInput, match=r"\[a, b\] with \[c, d\]"):
        check_connected(weights, "abcd")
    weights[1, 2] = 1
    check_connected(weights, "abcd")


def test_equal_strengths_share_a_place() -> None:
    assert places(np.array([0.5, 0.5, -1])).tolist() == [1, 1, 3]


def wins(strengths: np.ndarray, votes: int, seed: int) -> np.ndarray:
    chance = ndtr(strengths[:, None] - strengths)
    won = np.triu(np.random.default_rng(seed).binomial(votes, chance), 1).astype(float)
    return won + np.tril(votes - won.T, -1)


def test_planted_strengths_are_recovered_from_votes() -> None:
    strengths = np.array([0.6, 0.3, 0.0, -0.3, -0.6])
    np.testing.assert_allclose(fit(wins(strengths, 4000, 0)), strengths, atol=0.05)


def planted(images: int, seed: int = 0, models: int = 4) -> Scored:
    """Memberships whose qualities fall with the model's number, in noise."""
    random = np.random.default_rng(seed)
    defenders = random.integers(models, size=images)
    attackers = (defenders + random.integers(1, models, size=images)) % models
    quality = np.clip(0.7 - 0.1 * np.arange(models) + random.normal(0, 0.15, (images, models)), 0, 1)
    place = np.arange(images)
    classes = random.integers(3, size=images)
    return Scored(models, place, defenders, attackers, classes, quality[place, defenders], quality[place, attackers])


def ranked(scored: Scored, draws: int = 200):
    return rank(lambda weights: fit(aggressiveness(performance(scored, weights))), scored.distinct, draws)


def test_intervals_hold_the_estimate_and_shrink_with_more_images() -> None:
    few, many = ranked(planted(150)), ranked(planted(1500))
    for found in (few, many):
        assert (found.low <= found.strengths).all()
        assert (found.strengths <= found.high).all()
        assert ((found.best <= found.rank) & (found.rank <= found.worst)).all()
        np.testing.assert_allclose(found.beats + found.beats.T, 1)
    assert many.rank.tolist() == [1, 2, 3, 4]
    assert (many.beats[0, 1:] > 0.9).all(), "the first beats all others"
    shrink = (few.high - few.low).mean() / (many.high - many.low).mean()
    assert 2 < shrink < 5  # about the square root of ten


def test_the_interval_is_the_middle_of_the_draws_at_its_level() -> None:
    spread = np.stack([np.arange(1001.0), np.full(1001, 500.0)], axis=1)
    found = rank(lambda weights: np.array([500.0, 400.0]) if weights is None else spread, 5)
    assert (found.low[0], found.high[0]) == (25, 975), "2.5 % of the draws lie on each side"


def test_equal_models_are_tied() -> None:
    scored = planted(300)
    same = Scored(
        4, scored.images, scored.defenders, scored.attackers, scored.classes, scored.defended, scored.defended
    )
    found = ranked(same)
    assert found.rank.tolist() == [1, 1, 1, 1]
    assert len(found.tied()) == 6


def test_one_image_is_enough_to_compute_and_none_is_refused() -> None:
    one = np.zeros(2, dtype=np.int64)
    scored = Scored(2, one, np.array([0, 1]), np.array([1, 0]), one, np.array([0.5, 0.2]), np.array([0.2, 0.5]))
    assert ranked(scored).rank.tolist() == [1, 2]
    with pytest.raises(BadInput, match="found none"):
        draw_weights(0)


def test_draws_keep_the_number_of_images() -> None:
    assert (draw_weights(20, 5).sum(1) == 20).all()
