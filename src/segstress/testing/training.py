"""What recipes, optimisers and schedules of training must keep; public, for authors of plug-ins."""

from __future__ import annotations

import math

import torch
from torch import nn

from ..core import Batch, Spec
from ..training import optimisers, recipes, schedules
from ..training.optimisers import Optimiser
from ..training.recipes import Losses, Recipe
from ..training.schedules import Schedule
from ..training.trainee import Trainee
from .settings import check_settings
from .toys import toy_batch, toy_model

CLASSES = 4
LOOKS = 100  # points of a schedule that are looked at


def check_recipe(recipe: Recipe | Spec) -> None:
    """Run every check on toy images: void teaches nothing, a step says the same again, every weight learns."""
    built = recipe if isinstance(recipe, Recipe) else recipes.build(recipe)
    check_settings(recipes, built)
    batch = toy_batch(toy_model(CLASSES))
    losses = _losses(built, batch)
    assert 0 <= losses.hits <= batch.valid.sum(), "more pixels right than there are"
    for value in (losses.valid, losses.every):
        assert value.ndim == 0, "a loss is one number, summed over the batch"
        assert torch.isfinite(value), "a loss that is no number"
    again = _losses(built, batch)
    assert losses.valid == again.valid, "the same step has another loss when it is taken again"
    assert losses.every == again.every, "the same step has another loss when it is taken again"
    relabelled = Batch(batch.ids, batch.images, torch.where(batch.valid, batch.labels, 1), batch.valid)
    assert losses.valid == _losses(built, relabelled).valid, "labels of void pixels change the loss"


def check_optimiser(optimiser: Optimiser | Spec) -> None:
    """Check that every parameter is in one group, whose full rate is noted, and that a step moves it downhill."""
    built = optimiser if isinstance(optimiser, Optimiser) else optimisers.build(optimiser)
    check_settings(optimisers, built)
    network = Trainee(_network(CLASSES))
    made = built.make(network)
    owned = [id(parameter) for group in made.param_groups for parameter in group["params"]]
    assert sorted(owned) == sorted(map(id, network.parameters())), "a parameter in no group, or in two"
    assert all(group["full"] > 0 for group in made.param_groups), "a group does not note its full rate"
    before = [parameter.detach().clone() for parameter in network.parameters()]
    torch.stack([parameter.sum() for parameter in network.parameters()]).sum().backward()
    made.step()
    for parameter, earlier in zip(network.parameters(), before, strict=True):
        assert (parameter < earlier).all(), "a step along a slope of one does not go down"


def check_schedule(schedule: Schedule | Spec) -> None:
    """Check that the factor depends on progress alone, is never negative and is one at its highest."""
    built = schedule if isinstance(schedule, Schedule) else schedules.build(schedule)
    check_settings(schedules, built)
    factors = [built.factor(number / LOOKS) for number in range(LOOKS)]
    assert factors == [built.factor(number / LOOKS) for number in range(LOOKS)], "it changed its mind"
    assert all(math.isfinite(factor) and factor >= 0 for factor in factors), "a factor below 0, or none"
    assert math.isclose(max(factors), 1, abs_tol=2 / LOOKS), "the full rate is never reached, or exceeded"


def _network(outputs: int) -> nn.Module:
    """Return a convolution whose weights are the same each time."""
    network = nn.Conv2d(3, outputs, 1).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.linspace(-1, 1, parameter.numel()).view_as(parameter))
    return network


def _losses(recipe: Recipe, batch: Batch) -> Losses:
    """Take a step with an attack that does nothing; check that its gradient reaches every weight."""
    network = recipe.trainee(_network, CLASSES).double().train()
    losses = recipe.loss(network, batch, 0, lambda images: images)
    (losses.valid + losses.every).backward()
    assert all(parameter.grad is not None for parameter in network.parameters()), "a weight that learns nothing"
    return losses
