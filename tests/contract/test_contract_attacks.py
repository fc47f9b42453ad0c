"""The contract over every registered attack, and seven planted bugs that must each turn it red."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest
import torch

from segstress.attacks import attacks
from segstress.attacks.losses import losses
from segstress.attacks.search import problem as problem_module
from segstress.attacks.search.feasible import Feasible
from segstress.attacks.search.problem import Problem
from segstress.attacks.search.tracker import Tracker
from segstress.core import settings
from segstress.testing import check_attack, checks_of
from segstress.testing.contract import (
    check_advances_once_a_look,
    check_alone_as_in_batch,
    check_ignores_void,
    check_is_data,
    check_keeps_budget,
    check_reaches,
    check_returns_best,
    check_stays_inside,
)
from segstress.testing.smallness import check_finds_small

NAMES = [name for name in attacks.names() if name != "transfer"]  # that needs a folder: test_transfer.py
CLASSES = [name for name in NAMES if not attacks.fixed(name)]
CASES = [(name, check) for name in CLASSES for check in checks_of(attacks.build(name))]


@pytest.mark.parametrize(("name", "check"), CASES, ids=lambda part: part if isinstance(part, str) else part.__name__)
def test_contract(name, check):
    steps = 12 if check is check_advances_once_a_look else None
    check(attacks.build(name) if check in (check_reaches, check_finds_small) else _short(name, steps))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CLASSES])
def test_preset(name):
    check_is_data(attacks.build(name))
    assert re.search("arXiv|AAAI|ours, docs", attacks.about(name)), "a preset says whose it is"


def test_a_preset_that_keeps_another_iterate_keeps_the_rest_of_the_contract():
    others = {attacks.fixed(name).get("keep", "best"): name for name in NAMES} | {"accuracy": "sea-jsd"}
    for name in (name for keep, name in others.items() if keep != "best"):
        algorithm = _short(name)
        assert check_returns_best not in checks_of(algorithm)
        for check in (check_stays_inside, check_ignores_void, check_alone_as_in_batch, check_keeps_budget):
            check(algorithm)


def _short(name, steps=None):
    """The attack by that name, with fewer steps than hundreds; without gradients it needs more of them."""
    algorithm = attacks.build(name)
    few = {"damage": 20, "smallness": 100}[algorithm.seeks] if algorithm.passes()[1] else 100
    few = 5 if hasattr(algorithm, "rounds") else steps or few  # that many in every round
    return attacks.build({"kind": name, "steps": few}) if getattr(algorithm, "steps", 0) > few else algorithm


@attacks.register("plain-ascent-of-tests")
@settings
class PlainAscent:
    """Raw gradient steps, so that the scale of the gradient matters too (arXiv:1706.06083 without the sign)."""

    seeks: ClassVar = "damage"
    reaches: ClassVar = None  # steps are not scaled to the radius
    steps: int = 12

    def run(self, problem):
        delta = problem.start(True)
        for step in range(self.steps):
            look = problem.look(delta, "ce", step / self.steps)
            delta = problem.feasible.project(delta + 0.3 * look.gradient, problem.threat.radius)
        return delta

    def passes(self):
        return self.steps, self.steps


def forget_void_mask(monkeypatch):
    original = problem_module.Problem.__init__

    def init(self, model, batch, *args, **kwargs):
        from dataclasses import replace

        original(self, model, replace(batch, valid=torch.ones_like(batch.valid)), *args, **kwargs)

    monkeypatch.setattr(Problem, "__init__", init)


def draw_noise_per_batch(monkeypatch):
    generator = torch.Generator().manual_seed(0)

    def uniform(like, ids, seed, purpose):
        return 2 * torch.rand(like.shape, generator=generator.manual_seed(seed), dtype=like.dtype) - 1

    monkeypatch.setattr(problem_module, "uniform", uniform)


def forget_box(monkeypatch):
    def init(self, images, norm, region=None):
        self.images, self.norm = images, norm
        everywhere = torch.ones_like(images) if region is None else region[:, None].expand_as(images).to(images)
        self.lower, self.upper = -10 * everywhere, 10 * everywhere

    monkeypatch.setattr(Feasible, "__init__", init)
    monkeypatch.setattr(Feasible, "apply", lambda self, delta: self.images + delta)


def return_last_instead_of_best(monkeypatch):
    def show(self, score, delta, eligible):
        self.score, self.delta = torch.where(eligible, score, self.score), delta

    monkeypatch.setattr(Tracker, "show", show)


def ignore_region(monkeypatch):
    original = Feasible.__init__
    monkeypatch.setattr(Feasible, "__init__", lambda self, images, norm, region=None: original(self, images, norm))


def flip_sign(monkeypatch):
    original = Problem.look

    def look(self, *args, **kwargs):
        from dataclasses import replace

        seen = original(self, *args, **kwargs)
        return replace(seen, gradient=-seen.gradient)

    monkeypatch.setattr(Problem, "look", look)


def average_over_batch(monkeypatch):
    original = Problem.look

    def look(self, *args, **kwargs):
        from dataclasses import replace

        seen = original(self, *args, **kwargs)
        return replace(seen, gradient=seen.gradient / len(self.batch))

    monkeypatch.setattr(Problem, "look", look)


def test_the_plain_ascent_itself_is_sound():
    check_attack(PlainAscent())


@pytest.mark.parametrize(
    "plant",
    [
        forget_void_mask,
        draw_noise_per_batch,
        forget_box,
        return_last_instead_of_best,
        ignore_region,
        flip_sign,
        average_over_batch,
    ],
    ids=lambda plant: plant.__name__,
)
def test_planted_bug_turns_the_contract_red(plant, monkeypatch):
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check_attack(PlainAscent())


@attacks.register("counting-ascent-of-tests")
@settings
class CountingAscent(PlainAscent):
    """Weighs the loss by how often it was asked, which it must be once a look (arXiv:1706.06083 without the sign)."""

    def run(self, problem):
        delta = problem.start(True)

        class Counting:
            def __init__(self):
                self.calls = 0

            def __call__(self, view):
                self.calls += 1
                return self.calls * losses.get("ce")(view)

        counting = Counting()
        for step in range(self.steps):
            look = problem.look(delta, counting, step / self.steps)
            delta = problem.feasible.project(delta + 0.01 * look.gradient, problem.threat.radius)
        return delta


def test_draws_that_advance_a_loss_several_times_turn_the_contract_red(monkeypatch):
    check_advances_once_a_look(CountingAscent())
    monkeypatch.setattr(problem_module, "deepcopy", lambda asked: asked)
    with pytest.raises(AssertionError, match="1 and 4 draws of a deterministic model"):
        check_advances_once_a_look(CountingAscent())
