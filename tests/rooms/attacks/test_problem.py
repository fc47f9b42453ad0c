"""The one way to look at a model: draws, class weights, resting images, and what the looks cost."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from segstress.attacks import Attack, Problem, attacks
from segstress.core import BadInput, Threat
from segstress.testing import toy_batch, toy_model

THREAT = Threat(radius=0.1)


class Fickle(nn.Module):
    """Two networks that take turns."""

    def __init__(self):
        super().__init__()
        self.members = nn.ModuleList([toy_model(seed=seed) for seed in (0, 1)])
        self.calls = 0
        self.eval()

    def forward(self, images):
        self.calls += 1
        return self.members[self.calls % 2](images)


def test_draws_average_gradient_loss_and_damage():
    model = Fickle()
    batch = toy_batch(model.members[0])
    delta = Problem(model.members[0], batch, THREAT).start(random=True)
    alone = [Problem(member, batch, THREAT).look(delta, "ce") for member in model.members]
    both = Problem(model, batch, THREAT, draws=2).look(delta, "ce")
    for quantity in ("gradient", "loss", "damage", "miou"):
        expected = sum(getattr(look, quantity) for look in alone) / 2
        assert torch.allclose(getattr(both, quantity), expected, atol=1e-12), quantity


def test_draws_are_counted_as_passes():
    model = Fickle()
    batch = toy_batch(model.members[0])
    attack = Attack(algorithm=attacks.build("pgd?steps=3"), threat=THREAT, draws=4)
    perturbed = attack.perturb(model, batch, 0)
    assert perturbed.forwards.tolist() == [4 * (3 + 2)] * 3
    assert perturbed.backwards.tolist() == [4 * 3] * 3
    assert model.calls == 4 * (3 + 2)
    assert "4 draws" in attack.label


def test_classes_weigh_one_over_their_valid_pixels():
    model = toy_model()
    batch = toy_batch(model)
    balance = Problem(model, batch, THREAT).balance
    for weights, labels, valid in zip(balance, batch.labels, batch.valid, strict=True):
        for class_ in labels[valid].unique():
            of_class = valid & (labels == class_)
            assert torch.allclose(weights[of_class].sum(), torch.ones((), dtype=weights.dtype))


def test_given_weights_change_the_balanced_loss_only():
    model = toy_model()
    batch = toy_batch(model)
    weights = (4.0, 3.0, 2.0, 1.0)
    expected = torch.tensor(weights, dtype=torch.float64)[batch.labels]
    assert torch.equal(Problem(model, batch, THREAT, weights=weights).balance, expected)
    for name, changed in (("progressive-mce-bal", True), ("progressive-mce", False)):
        algorithm = attacks.build({"kind": name, "steps": 20})
        plain, weighted = (
            Attack(algorithm=algorithm, threat=THREAT, weights=given).perturb(model, batch, 0).results[0].images
            for given in ((), weights)
        )
        assert torch.equal(plain, weighted) != changed


def test_too_few_weights_are_refused():
    model = toy_model()
    with pytest.raises(BadInput, match=r"weights: expected one for each class, found 2 and a label 3"):
        Problem(model, toy_batch(model), THREAT, weights=(1.0, 2.0))


def test_resting_images_cost_nothing_and_show_full_damage():
    model = toy_model()
    batch = toy_batch(model)
    problem = Problem(model, batch, THREAT, keep="last")
    delta = problem.start(random=True)
    whole = problem.look(delta, "ce", track="ce")
    part = problem.look(delta, "ce", track="ce", resting=torch.tensor([False, True, False]))
    assert problem.forwards.tolist() == problem.backwards.tolist() == [2, 1, 2]
    assert part.damage[1] == 1
    assert not part.gradient[1].any()
    assert torch.allclose(part.gradient[[0, 2]], whole.gradient[[0, 2]])
    assert torch.allclose(part.track[[0, 2]], whole.track[[0, 2]])


def test_losses_grow_with_the_attackers_luck_also_for_a_target():
    model = toy_model()
    batch = toy_batch(model)
    for target in (None, 1):
        threat = Threat(radius=0.1, target=target)
        problem_batch = batch if target is None else _aimed(batch, target)
        problem = Problem(model, problem_batch, threat, keep="last")
        delta = torch.zeros_like(batch.images)
        look = problem.look(delta, "ce", track="ce")
        further = problem.look(delta + 1e-4 * look.gradient.sign(), "ce", track="ce")
        assert (further.loss > look.loss).all()
        assert (further.track > look.track).all()


def _aimed(batch, target):
    from dataclasses import replace

    return replace(batch, goal=torch.full_like(batch.labels, target), goal_valid=torch.ones_like(batch.valid))
