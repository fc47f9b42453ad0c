"""The contract over every registered recipe, optimiser and schedule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from segstress.core import settings
from segstress.testing import check_optimiser, check_recipe, check_schedule
from segstress.training import optimisers, recipes, schedules
from segstress.training.optimisers import SGD
from segstress.training.recipes import Adversarial


@pytest.mark.parametrize("name", recipes.names())
def test_recipe(name):
    check_recipe(name)


@pytest.mark.parametrize("name", optimisers.names())
def test_optimiser(name):
    check_optimiser(name)


@pytest.mark.parametrize("name", schedules.names())
def test_schedule(name):
    check_schedule(name)


@settings
class LearnsVoid(Adversarial):
    """Takes void pixels for what their labels say."""

    def loss(self, network, batch, first, harm):
        return super().loss(network, replace(batch, valid=batch.valid | True), first, harm)


@settings
class ForgetsBiases(SGD):
    """Leaves the last parameter out."""

    def make(self, network):
        made = super().make(network)
        made.param_groups[-1]["params"].pop()
        return made


@settings
class Climbs:
    """Grows beyond the full rate."""

    def factor(self, progress):
        return 1 + progress


@pytest.mark.parametrize(
    ("registry", "planted", "check"),
    [
        (recipes, LearnsVoid, check_recipe),
        (optimisers, ForgetsBiases, check_optimiser),
        (schedules, Climbs, check_schedule),
    ],
)
def test_planted_bug_turns_the_contract_red(register, registry, planted, check):
    with pytest.raises(AssertionError):
        check(register(registry, planted)())
