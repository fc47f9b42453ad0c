"""Losses against closed forms, naive versions and the gradient weights that the literature gives."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from segstress.attacks import View, attacks, losses
from segstress.testing.contract import check_alone_as_in_batch, check_harms, check_ignores_void

CLASSES = 5


def view_of(logits, labels, *, aim=None, balance=None, progress=0.0, targeted=False):
    aim = torch.ones_like(labels, dtype=torch.bool) if aim is None else aim
    balance = torch.ones(labels.shape, dtype=logits.dtype) if balance is None else balance
    return View(logits, labels, aim, balance, progress, targeted)


@pytest.fixture
def sample():
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(2, CLASSES, 6, 7, generator=generator, dtype=torch.float64)
    labels = torch.randint(CLASSES, (2, 6, 7), generator=generator)
    return logits.requires_grad_(), labels


def certain(probability):
    """Two logits whose softmax gives the first class that probability, labelled so."""
    logits = torch.tensor([probability, 1 - probability], dtype=torch.float64).log()
    return view_of(logits[None, :, None, None], torch.zeros(1, 1, 1, dtype=torch.int64))


def probability_of_label(view):
    return view.logits.softmax(1).gather(1, view.labels[:, None])[:, 0]


def logarithm_weight(view):
    p = probability_of_label(view)
    return 0.5 * p * ((1 + p) / p).log()


def cosine_weight(view, squash):
    squashed = squash(view.logits)
    return squashed.gather(1, view.labels[:, None])[:, 0] / squashed.square().sum(1).sqrt()


WEIGHTS = {
    "ce": lambda view: torch.ones_like(view.balance),
    "masked-ce": lambda view: (view.prediction == view.labels).double(),
    "masked-ce-balanced": lambda view: view.balance * (view.prediction == view.labels),
    "segpgd": lambda view: torch.where(view.prediction == view.labels, 1 - 0.4 / 2, 0.4 / 2).double(),
    "jsd": logarithm_weight,
    "cospgd": lambda view: cosine_weight(view, lambda logits: logits.softmax(1)),
    "cospgd-sigmoid": lambda view: cosine_weight(view, torch.sigmoid),
    "tsallis": lambda view: probability_of_label(view) ** (1 - (-2 + 3 * 0.4)),
    "tsallis-balanced": lambda view: view.balance * probability_of_label(view) ** (1 - (-2 + 3 * 0.4)),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_gradient_is_that_of_cross_entropy_times_a_known_weight(name, sample):
    logits, labels = sample
    balance = 0.1 + labels.double()
    view = view_of(logits, labels, balance=balance, progress=0.4)
    (gradient,) = torch.autograd.grad(losses.get(name)(view).sum(), logits)
    plain = logits.softmax(1) - functional.one_hot(labels, CLASSES).movedim(-1, 1)
    assert torch.allclose(gradient, WEIGHTS[name](view)[:, None] * plain, atol=1e-12)


@pytest.mark.parametrize(
    ("probability", "value"), [(0.01, 0.665096), (0.1, 0.525597), (0.5, 0.215762), (0.9, 0.035974)]
)
def test_jensen_shannon_has_its_closed_form(probability, value):
    assert float(losses.get("jsd")(certain(probability))) == pytest.approx(value, abs=1e-6)


def test_jensen_shannon_is_the_sum_of_two_divergences(sample):
    logits, labels = sample
    p, onehot = logits.softmax(1), functional.one_hot(labels, CLASSES).movedim(-1, 1).double()
    middle = (p + onehot) / 2
    naive = (p * (p / middle).log()).sum(1) / 2 + torch.xlogy(onehot, onehot / middle).sum(1) / 2
    assert torch.allclose(losses.get("jsd")(view_of(logits, labels)), naive, atol=1e-12)


def test_jensen_shannon_pulls_hardest_where_the_literature_says():
    grid = torch.linspace(0.001, 0.999, 999, dtype=torch.float64)
    logits = torch.stack([grid.log(), (1 - grid).log()])[None, :, None].requires_grad_()
    view = view_of(logits, torch.zeros(1, 1, 999, dtype=torch.int64))
    (gradient,) = torch.autograd.grad(losses.get("jsd")(view).sum(), logits)
    assert float(grid[gradient[0, 0, 0].abs().argmax()]) == pytest.approx(0.318, abs=0.002)


@pytest.mark.parametrize(("order", "peak"), [(-2, 0.75), (-1, 2 / 3), (0, 0.5), (0.5, 1 / 3)])
def test_tsallis_pulls_hardest_at_the_peak_of_its_order(order, peak):
    grid = torch.linspace(0.001, 0.999, 999, dtype=torch.float64)
    logits = torch.stack([grid.log(), (1 - grid).log()])[None, :, None].requires_grad_()
    view = view_of(logits, torch.zeros(1, 1, 999, dtype=torch.int64), progress=(order + 2) / 3)
    (gradient,) = torch.autograd.grad(losses.get("tsallis")(view).sum(), logits)
    assert float(grid[gradient[0, 0, 0].abs().argmax()]) == pytest.approx(peak, abs=0.002)


def test_tsallis_ends_as_cross_entropy(sample):
    view = view_of(*sample, progress=1.0)
    assert torch.allclose(losses.get("tsallis")(view), losses.get("ce")(view))


def test_cosines_are_those_of_torch(sample):
    logits, labels = sample
    onehot = functional.one_hot(labels, CLASSES).movedim(-1, 1).double()
    view = view_of(logits, labels)
    each = functional.cosine_similarity(logits, onehot, dim=1)
    whole = functional.cosine_similarity(logits.flatten(1), onehot.flatten(1), dim=1)
    assert torch.allclose(losses.get("cosine")(view), 1 - each)
    assert torch.allclose(losses.get("masked-spherical")(view), -each * (logits.argmax(1) == labels))
    assert torch.allclose(losses.get("cosine-global")(view).flatten(1).sum(1), 1 - whole)


def test_the_global_cosine_is_that_of_the_aimed_pixels(sample):
    logits, labels = sample
    aim = torch.rand(labels.shape, generator=torch.Generator().manual_seed(1)) < 0.6
    onehot = functional.one_hot(labels, CLASSES).movedim(-1, 1).double()
    aimed = (part.masked_fill(~aim[:, None], 0).flatten(1) for part in (logits, onehot))
    values = losses.get("cosine-global")(view_of(logits, labels, aim=aim))
    assert torch.allclose((values * aim).flatten(1).sum(1), 1 - functional.cosine_similarity(*aimed, dim=1))


def naive_ranks(logits, labels):
    """Pixel by pixel: the best other class, the largest and the third largest logit."""
    others, first, third = (torch.zeros(labels.shape, dtype=logits.dtype) for _ in range(3))
    for place in torch.cartesian_prod(*(torch.arange(side) for side in labels.shape)).tolist():
        b, row, column = place
        column_of_logits = logits[b, :, row, column]
        ordered = sorted(column_of_logits.tolist(), reverse=True)
        first[b, row, column], third[b, row, column] = ordered[0], ordered[2]
        label = int(labels[b, row, column])
        others[b, row, column] = max(z for k, z in enumerate(column_of_logits.tolist()) if k != label)
    return others, first, third


def test_margin_and_ratio_are_those_of_sorted_logits(sample):
    logits, labels = sample
    view, (others, first, third) = view_of(logits, labels), naive_ranks(logits.detach(), labels)
    margin = others - view.of(labels)[0]
    assert torch.allclose(losses.get("margin")(view), margin)
    assert torch.allclose(losses.get("margin-clipped")(view), margin.clamp(max=0.5))
    assert torch.allclose(losses.get("masked-margin")(view), margin * (margin < 0))
    assert torch.allclose(losses.get("dlr")(view), margin / (first - third + 1e-12))


def test_dlr_towards_a_goal_measures_in_the_lead_over_third_and_fourth(sample):
    view = view_of(*sample, targeted=True)
    first, _, third, fourth = view.logits.topk(4, dim=1).values.unbind(1)
    goal = view.logits.gather(1, view.labels[:, None])[:, 0]
    rival = view.logits.scatter(1, view.labels[:, None], -math.inf).amax(1)
    assert torch.allclose(losses.get("dlr")(view), (rival - goal) / (first - (third + fourth) / 2 + 1e-12))


def test_ratio_of_two_classes_still_has_a_slope():
    logits = torch.tensor([2.0, -1.0]).view(1, 2, 1, 1).requires_grad_()
    loss = losses.get("dlr")(view_of(logits, torch.zeros(1, 1, 1, dtype=torch.int64)))
    (gradient,) = torch.autograd.grad(loss.sum(), logits)
    assert loss.flatten().tolist() == [-3]
    assert gradient.flatten().tolist() == [-1, 1]


@pytest.mark.parametrize("name", losses.names())
@pytest.mark.parametrize("size", [0.0, 1e-3, 1e3])
def test_losses_and_slopes_are_finite(name, size):
    generator = torch.Generator().manual_seed(1)
    logits = (size * torch.randn(1, CLASSES, 8, 8, generator=generator)).requires_grad_()
    labels = torch.randint(CLASSES, (1, 8, 8), generator=generator)
    for progress in (0.0, 0.5, 1.0):
        value = losses.get(name)(view_of(logits, labels, progress=progress))
        (gradient,) = torch.autograd.grad(value.sum(), logits)
        assert torch.isfinite(value).all()
        assert torch.isfinite(gradient).all()


def test_cosine_weight_turns_round_for_a_target(sample):
    logits, labels = sample
    plain, turned = (losses.get("cospgd")(view_of(logits, labels, targeted=targeted)) for targeted in (False, True))
    assert torch.allclose(plain + turned, losses.get("ce")(view_of(logits, labels)))


@pytest.mark.parametrize("check", [check_harms, check_ignores_void, check_alone_as_in_batch])
@pytest.mark.parametrize("name", losses.names())
def test_every_loss_keeps_the_contract(name, check):
    check(attacks.build({"kind": "pgd", "loss": name, "steps": 15}))


def test_jensen_shannon_never_passes_its_bound(sample):
    assert (losses.get("jsd")(view_of(*sample)) < math.log(2)).all()
