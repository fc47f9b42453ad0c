"""Algorithms beside plain versions of themselves, in image space and without shared code."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from segstress.attacks import Attack, attacks
from segstress.core import Batch, Threat
from segstress.testing import linear_model, smallest_radius, toy_batch, toy_model

RADIUS = 0.05


def watch(spec, model, batch):
    """Every image that the model is shown after the clean one."""
    seen = []
    handle = model.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].detach().clone()))
    attack_of(spec).perturb(model, batch, 3)
    handle.remove()
    return seen[1:]


def attack_of(spec):
    return Attack(algorithm=attacks.build(spec), threat=Threat(radius=RADIUS))


def clip(x, image):
    return torch.clip(torch.clip(x, image - RADIUS, image + RADIUS), 0, 1)


def cross_entropy(model, x, batch):
    return functional.cross_entropy(model(x), batch.labels, reduction="none")[batch.valid].sum()


@pytest.fixture
def case():
    model = toy_model()
    return model, toy_batch(model).pick([1])


@pytest.mark.parametrize(("reduction", "share"), [("sum", 1), ("mean", 12 * 12)])
def test_projected_adam_is_the_optimiser_of_torch(case, reduction, share):
    model, batch = case
    seen = watch(f"padam?steps=25&reduction={reduction}", model, batch)
    delta = nn.Parameter(seen[0] - batch.images)
    optimiser = torch.optim.Adam([delta], lr=2 / 255, amsgrad=True, maximize=True)
    for ours in seen:
        assert torch.allclose(ours, batch.images + delta, atol=1e-9)
        optimiser.zero_grad()
        (cross_entropy(model, batch.images + delta, batch) / share).backward()
        optimiser.step()
        delta.data = clip(batch.images + delta.data, batch.images) - batch.images
    assert len(seen) == 26


def test_momentum_sums_normalised_gradients(case):
    model, batch = case
    x, momentum = batch.images, torch.zeros_like(batch.images)
    for ours in watch("mi-fgsm?steps=8&decay=0.7&keep=best", model, batch):
        assert torch.allclose(ours, x, atol=1e-12)
        leaf = x.clone().requires_grad_()
        gradient = torch.autograd.grad(cross_entropy(model, leaf, batch), leaf)[0]
        momentum = 0.7 * momentum + gradient / gradient.abs().sum()
        x = clip(x + RADIUS / 8 * momentum.sign(), batch.images)


def test_one_step_goes_to_the_border(case):
    model, batch = case
    leaf = batch.images.clone().requires_grad_()
    gradient = torch.autograd.grad(cross_entropy(model, leaf, batch), leaf)[0]
    done = attack_of("fgsm").perturb(model, batch, 3)
    stepped = clip(batch.images + RADIUS * gradient.sign(), batch.images)
    assert done.forwards.tolist() == done.backwards.tolist() == [1], "one step looks once, and compares nothing"
    assert torch.allclose(done.results[0].images, stepped, atol=1e-12)


def test_one_step_is_returned_though_the_image_itself_does_more_harm(case):
    model, batch = case
    labels = (model(batch.images).argmax(1) + 1) % 4  # nothing is right, so that no step can help
    wrong = Batch(ids=batch.ids, images=batch.images, labels=labels, valid=batch.valid)
    (result,) = attack_of("fgsm").perturb(model, wrong, 3).results
    assert not torch.equal(result.images, batch.images)


class RowBrightness(nn.Module):
    """Calls a whole row bright where its mean is above the image's: weak pixel by pixel, helpless against stripes."""

    def forward(self, images):
        rows = images.mean((1, 3), keepdim=True).expand(-1, -1, -1, images.shape[3])
        return torch.cat([0.5 - rows, rows - 0.5], 1)


def striped_batch(side=32):
    generator = torch.Generator().manual_seed(0)
    level = 0.5 + 0.04 * torch.randint(0, 2, (1, 1, side, 1), generator=generator).mul(2).sub(1)
    images = (level + 0.02 * torch.randn(1, 3, side, side, generator=generator)).clamp(0, 1).double()
    labels = RowBrightness()(images).argmax(1)
    return Batch(ids=("stripes",), images=images, labels=labels, valid=torch.ones_like(labels, dtype=torch.bool))


def test_stripes_break_a_model_of_rows_without_a_gradient():
    model, batch = RowBrightness().eval(), striped_batch()
    perturbed = Attack(algorithm=attacks.build("dla?steps=150"), threat=Threat(radius=RADIUS)).perturb(model, batch, 0)
    assert (model(perturbed.results[0].images).argmax(1) == batch.labels).double().mean() < 0.2
    assert not perturbed.backwards.any()


def test_squares_break_most_pixels_of_a_linear_model_without_a_gradient():
    model = linear_model()
    batch = toy_batch(model, wide=False)
    threat = Threat(radius=2 * float(smallest_radius(model, batch, 0.99).max()))
    perturbed = Attack(algorithm=attacks.build("square?steps=600"), threat=threat).perturb(model, batch, 0)
    right = (model(perturbed.results[0].images).argmax(1) == batch.labels) & batch.valid
    assert (right.flatten(1).sum(1) < 0.15 * batch.valid.flatten(1).sum(1)).all()
    assert not perturbed.backwards.any()


def test_flips_are_kept_only_where_the_score_falls():
    model, batch = RowBrightness().eval(), striped_batch()
    rights = [int((model(image).argmax(1) == batch.labels).sum()) for image in watch("dla?steps=60", model, batch)[12:]]
    changes = torch.tensor(rights).diff()
    assert rights[-1] == min(rights)
    assert (changes > 0).any(), "some flips do harm to the attack, and are taken back"
