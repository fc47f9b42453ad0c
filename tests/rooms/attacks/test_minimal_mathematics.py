"""Proximal steps against independent solvers, derivatives against differences, thresholds against counting."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize, minimize_scalar

from segstress.attacks.minimal.masking import spare_hardest
from segstress.attacks.minimal.penalties import penalty_slope
from segstress.attacks.minimal.prox import prox_l0, prox_l1, prox_l2, prox_linf
from segstress.attacks.search.feasible import Feasible
from segstress.attacks.search.tracker import SmallestTracker, suffices


def _random_problem(seed, scale):
    generator = torch.Generator().manual_seed(seed)
    delta = scale * torch.randn(2, 3, 5, 4, generator=generator, dtype=torch.float64)
    images = torch.rand(delta.shape, generator=generator, dtype=torch.float64)
    metric = 1e-6 + 10 * torch.rand(delta.shape, generator=generator, dtype=torch.float64) ** 4
    strength = scale * 10 ** (4 * torch.rand(2, generator=generator, dtype=torch.float64) - 2)
    return delta, images, metric, strength


@pytest.mark.parametrize("scale", [0.01, 0.3, 2.0])  # the box is rarely, often, nearly always in the way
@pytest.mark.parametrize("seed", range(5))
def test_prox_linf_is_the_minimum_that_a_scalar_search_finds(seed, scale):
    delta, images, metric, strength = _random_problem(seed, scale)
    found = prox_linf(delta, metric, strength, -images, 1 - images)
    for place in range(2):
        d, h, t = delta[place], metric[place], float(strength[place])
        boxed = d.clamp(-images[place], 1 - images[place])

        def cost(radius, d=d, h=h, t=t, boxed=boxed):
            return float((h * (boxed.clamp(-radius, radius) - d).square()).sum() / 2 + t * radius)

        best = minimize_scalar(cost, bounds=(0, float(boxed.abs().max())), method="bounded", options={"xatol": 1e-12})
        mine = float(found[place].abs().max())
        assert cost(mine) <= min(best.fun, cost(0.0)) + 1e-9 * max(abs(best.fun), 1)
        assert torch.equal(found[place], boxed.clamp(-mine, mine))


def test_prox_linf_from_a_near_radius_needs_few_passes():
    delta, images, metric, strength = _random_problem(0, 0.01)
    exact = prox_linf(delta, metric, strength, -images, 1 - images)
    near = 0.9 * exact.abs().flatten(1).amax(1)
    quick = prox_linf(delta, metric, strength, -images, 1 - images, near=near, passes=8)
    assert torch.allclose(quick, exact, atol=1e-4 * float(delta.abs().max()))


@pytest.mark.parametrize("seed", range(3))
def test_prox_l2_is_the_minimum_that_a_general_solver_finds(seed):
    delta, _, metric, strength = _random_problem(seed, 0.3)
    found = prox_l2(delta, metric, strength)
    for place in range(2):
        d, h, t = (np.asarray(part[place]).ravel() for part in (delta, metric, strength))

        def cost(point, d=d, h=h, t=t):
            return float((h * (point - d) ** 2).sum() / 2 + t[0] * np.linalg.norm(point))

        solved = minimize(cost, d, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-15})
        assert cost(np.asarray(found[place]).ravel()) <= min(solved.fun, cost(0 * d)) + 1e-6


@pytest.mark.parametrize("scale", [0.01, 0.3, 2.0])
def test_prox_l1_is_the_minimum_that_a_scalar_search_finds(scale):
    delta, images, metric, strength = _random_problem(0, scale)
    strength = strength * metric.mean()  # so that some elements vanish and others stay
    found = prox_l1(delta, metric, strength, -images, 1 - images)
    assert 0 < (found == 0).sum() < found.numel()
    prices = strength[:, None, None, None].expand_as(delta)
    for p, d, h, x, t in zip(
        *(part.flatten().tolist() for part in (found, delta, metric, images, prices)), strict=True
    ):

        def cost(point, d=d, h=h, t=t):
            return h * (point - d) ** 2 / 2 + t * abs(point)

        best = minimize_scalar(cost, bounds=(-x, 1 - x), method="bounded", options={"xatol": 1e-12})
        assert -x <= p <= 1 - x
        assert cost(p) <= min(best.fun, cost(0.0)) + 1e-9


@pytest.mark.parametrize("scale", [0.01, 0.3, 2.0])
def test_prox_l0_is_the_best_of_every_choice_of_pixels(scale):
    delta, images, metric, strength = _random_problem(1, scale)
    delta, images, metric = (part[..., :2, :4] for part in (delta, images, metric))
    strength = (metric * delta.square()).sum(1).flatten(1).median(1).values / 2
    found = prox_l0(delta, metric, strength, -images, 1 - images)
    boxed = delta.clamp(-images, 1 - images)
    for place in range(2):

        def cost(point, place=place):
            apart = metric[place] * (point - delta[place]).square()
            return float(apart.sum() / 2 + strength[place] * (point != 0).any(0).sum())

        choices = [torch.tensor([number >> bit & 1 for bit in range(8)]).view(2, 4) for number in range(256)]
        assert cost(found[place]) <= min(cost(boxed[place] * choice) for choice in choices) + 1e-12
        assert 0 < int((found[place] != 0).any(0).sum()) < 8


@pytest.mark.parametrize("seed", range(3))
def test_projections_on_l1_and_l0_balls_are_the_nearest_points(seed):
    delta, images, _, _ = _random_problem(seed, 0.1)
    delta = delta.clamp(-images, 1 - images)
    for norm, share in (("l1", 0.3), ("l0", 0.6)):
        allowed = Feasible(images, norm)
        radius = share * allowed.size(delta)
        found = allowed.project(delta, radius)
        assert (allowed.size(found) <= radius + 1e-9).all()
        assert torch.allclose(allowed.project(delta, allowed.size(delta)), delta, atol=1e-12)
        for place in range(2):
            if norm == "l0":
                moved = delta[place].square().sum(0).flatten().sort().values
                nearest = float(moved[: len(moved) - int(radius[place])].sum())
            else:
                nearest = _distance_to_l1_ball(delta[place].numpy().ravel(), float(radius[place])) ** 2
            assert float((found[place] - delta[place]).square().sum()) == pytest.approx(nearest, rel=1e-4)


def _distance_to_l1_ball(point, radius):
    """By a general solver: a point is the difference of two that are not negative."""
    size = len(point)
    limit = {"type": "ineq", "fun": lambda parts: radius - parts.sum()}
    solved = minimize(
        lambda parts: ((parts[:size] - parts[size:] - point) ** 2).sum(),
        np.zeros(2 * size),
        bounds=[(0, None)] * (2 * size),
        constraints=[limit],
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return np.sqrt(solved.fun)


@pytest.mark.parametrize("strength", [0.01, 1.0, 50.0])
def test_penalty_slope_is_the_derivative_of_the_penalty(strength):
    constraint = torch.linspace(-2, 2, 81, dtype=torch.float64)[None, None]
    constraint = constraint + 0.013  # off zero, where the two branches meet
    s, m = (torch.full_like(constraint, value) for value in (strength, 0.7))

    def penalty(c):
        above = m * c + m * s * c**2 + s**2 * c**3 / 6
        return torch.where(c >= 0, above, m * c / (1 - s.clamp(min=1) * c))

    step = 1e-6
    numeric = (penalty(constraint + step) - penalty(constraint - step)) / (2 * step)
    assert torch.allclose(penalty_slope(constraint, s, m), numeric, rtol=1e-5, atol=1e-6)


def test_released_slope_hardly_pushes_pixels_that_hardly_stand():
    just = torch.full((1, 1, 1), 1e-3, dtype=torch.float64)
    one = torch.ones_like(just)
    assert float(penalty_slope(just, 0.01 * one, one)) > 0.99
    assert float(penalty_slope(just, 0.01 * one, one, released=True)) < 0.01


def test_sparing_leaves_out_the_hardest_pixels_of_each_image_by_its_own_area():
    constraint = torch.arange(100.0).view(1, 10, 10).repeat(2, 1, 1)
    aim = torch.ones_like(constraint, dtype=torch.bool)
    aim[1, :9] = False
    counted = spare_hardest(constraint, aim, 0.1)
    # ten pixels may go in the first image: all above the tenth largest, which is kept; one in the second: none
    assert counted[0].sum() == 91
    assert counted[0].flatten()[90]
    assert counted[1].sum() == 10


def test_success_is_decided_in_integers():
    remaining, aimed = torch.tensor([1.0, 1.0, 2.0, 0.0], dtype=torch.float64), torch.tensor([100, 99, 200, 0])
    assert suffices(remaining, aimed, 0.99).tolist() == [True, False, True, True]


def test_smallest_keeps_harm_until_success_and_size_afterwards():
    tracker, aimed = SmallestTracker(torch.zeros(1, 1, 1, 1), 0.9), torch.tensor([10])
    seen = [(5, 0.1), (3, 0.5), (4, 0.2), (1, 0.9), (0, 1.0), (1, 0.4), (9, 0.01)]  # pixels left, size
    kept = []
    for remaining, size in seen:
        tracker.show(
            torch.tensor([remaining], dtype=torch.float64), aimed, torch.tensor([size]), torch.full((1, 1, 1, 1), size)
        )
        kept.append((round(float(tracker.delta), 3), bool(tracker.success)))
    assert kept == [(0.1, False), (0.5, False), (0.5, False), (0.9, True), (0.9, True), (0.4, True), (0.4, True)]
