"""Learning rates and who gets which."""

from __future__ import annotations

import pytest
import torch

from segstress.training import optimisers, schedules
from segstress.training.trainee import Trainee

from .networks import grouped


def test_poly_is_the_published_one():
    schedule, steps = schedules.build("poly"), 40
    assert [schedule.factor(step / steps) for step in range(steps)] == pytest.approx(
        [(1 - step / steps) ** 0.9 for step in range(steps)]
    )


@pytest.mark.parametrize("name", ["linear", "one-cycle", "poly?warm_up=0.1"])
def test_rises_to_one_and_falls_to_zero(name):
    schedule = schedules.build(name)
    up = [schedule.factor(0.1 * step / 50) for step in range(51)]
    down = [schedule.factor(0.1 + 0.9 * step / 50) for step in range(51)]
    assert up == sorted(up)
    assert down == sorted(down, reverse=True)
    assert [up[0], up[-1], down[-1]] == pytest.approx([0.04, 1, 0])


def test_pir_at_warms_up_for_a_fifth():
    schedule = schedules.build("pir-at")
    assert [schedule.factor(done) for done in (0.0, 0.1, 0.2, 0.6)] == pytest.approx([1e-5, 0.5, 1, 0.5], abs=1e-5)


def test_one_cycle_agrees_with_torch():
    steps = 1000
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1.0, total_steps=steps, pct_start=0.1, cycle_momentum=False)
    ours = schedules.build("one-cycle?warm_up=0.1")
    for step in range(steps - 1):
        assert ours.factor(step / steps) == pytest.approx(theirs.get_last_lr()[0], abs=0.02)  # they end a step earlier
        optimiser.step()
        theirs.step()


@pytest.mark.parametrize("name", ["sgd", "adamw?heads=10"])
def test_heads_learn_ten_times_faster(name):
    network = Trainee(grouped())
    groups = optimisers.build(name).make(network).param_groups
    rate = {id(parameter): group["full"] for group in groups for parameter in group["params"]}
    assert len(rate) == sum(len(group["params"]) for group in groups) == len(list(network.parameters()))
    heads = {id(parameter) for parameter in network.head_parameters()}
    features = {rate[place] for place in rate.keys() - heads}
    assert len(heads) == 4
    assert {rate[place] for place in heads} == {10 * features.pop()}
    assert not features


def test_decay_spares_norms_and_biases():
    groups = optimisers.build("adamw?decay=0.5").make(Trainee(grouped())).param_groups
    decay = {parameter.ndim: group["weight_decay"] for group in groups for parameter in group["params"]}
    assert decay == {4: 0.5, 1: 0.0}
