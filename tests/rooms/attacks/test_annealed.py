"""The annealed losses against the figures that they smooth, and their freedom from the scale of the logits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import nn

from segstress.attacks import Attack, Problem, View, attacks, losses
from segstress.attacks.losses.annealed import FIRST, LAST
from segstress.attacks.presets.annealed import ANNEALED
from segstress.core import Threat
from segstress.metrics.counts import count
from segstress.metrics.scores import image_miou
from segstress.testing import toy_batch, toy_model

THREAT = Threat(radius=0.1)


@pytest.fixture
def view():
    """Two images of five classes, the last nowhere true; a fifth of the pixels is not aimed at."""
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(2, 5, 8, 9, generator=generator, dtype=torch.float64)
    labels = torch.randint(4, (2, 8, 9), generator=generator)
    aim = torch.rand(2, 8, 9, generator=generator) > 0.2
    return logits, labels, aim


def view_of(logits, labels, aim, progress, *, targeted=False):
    return View(logits, labels, aim, torch.ones_like(logits[:, 0]), progress, targeted)


def margins(logits, labels):
    others = logits.scatter(1, labels[:, None], -torch.inf).amax(1)
    return others - logits.gather(1, labels[:, None])[:, 0]


@pytest.mark.parametrize("progress", [0.0, 0.3, 1.0])
def test_sharpness_rises_in_equal_factors_over_the_mean_margin(view, progress):
    logits, labels, aim = view
    mean = torch.stack([margins(logits, labels)[k][aim[k]].abs().mean() for k in range(2)])
    sharp = (FIRST * (LAST / FIRST) ** progress / mean)[:, None, None]
    shares = (sharp[:, None] * logits).softmax(1).gather(1, labels[:, None])[:, 0]
    now = view_of(logits, labels, aim, progress)
    assert torch.allclose(losses.get("annealed-error")(now), 1 - shares, atol=1e-12)
    assert torch.allclose(losses.get("annealed-ramp")(now), 1 / (1 + (-sharp * margins(logits, labels)).exp()))


def test_at_the_end_the_losses_are_the_figures(view):
    logits, labels, aim = view
    distance = torch.full((2,), 1e-4, dtype=torch.float64)  # so short that every softmax is a choice
    hard = replace(view_of(logits, labels, aim, 1.0), first_distance=distance)
    prediction = logits.argmax(1)
    wrong = ((prediction != labels) & aim).flatten(1).sum(1)
    error = torch.where(aim, losses.get("annealed-error")(hard), 0).flatten(1).sum(1)
    assert torch.allclose(error, wrong.double())
    assert torch.allclose(-losses.get("annealed-iou")(hard), image_miou(count(prediction, labels, aim, 5)))


def test_towards_a_goal_only_the_goals_classes_count(view):
    logits, labels, aim = view
    towards = -losses.get("annealed-iou")(view_of(logits, labels, aim, 0.9, targeted=True))
    shares = (FIRST * (LAST / FIRST) ** 0.9 / view_of(logits, labels, aim, 0.9).unit[:, None] * logits).softmax(1)
    for image in range(2):
        inside, overlaps = aim[image], []
        for class_ in range(4):
            true, share = (labels[image] == class_)[inside], shares[image, class_][inside]
            overlaps.append(share[true].sum() / (share.sum() + true.sum() - share[true].sum()))
        assert float(towards[image]) == pytest.approx(float(torch.stack(overlaps).mean()))


@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("loss", ["annealed-error", "annealed-iou"])
def test_the_slope_worked_out_by_hand_is_that_of_the_loss(view, loss, targeted):
    logits, labels, aim = view

    def value(logits):
        now = replace(view_of(logits, labels, aim, 0.3, targeted=targeted), first_distance=logits.new_ones(2))
        found = losses.get(loss)(now)
        return (found * torch.arange(1, found.numel() + 1).view_as(found)).sum()

    leaf = logits.clone().requires_grad_()
    (slope,) = torch.autograd.grad(value(leaf), leaf)
    for place in range(0, logits.numel(), 7):
        step = torch.zeros_like(logits).flatten().index_fill(0, torch.tensor(place), 1e-5).view_as(logits)
        rise = (value(logits + step) - value(logits - step)) / 2e-5
        assert float(slope.flatten()[place]) == pytest.approx(float(rise), abs=1e-6, rel=1e-6)
    with torch.no_grad():
        assert not value(leaf).requires_grad


class Louder(nn.Module):
    """A model with all logits ten times as large."""

    def __init__(self, model):
        super().__init__()
        self.model = model.eval()
        self.eval()

    def forward(self, images):
        """Ten times the logits."""
        return 10 * self.model(images)


@pytest.mark.parametrize("keep", ["best", "last"])
@pytest.mark.parametrize("algorithm", ["momentum", "pgd"])
@pytest.mark.parametrize("loss", ANNEALED)
def test_logits_times_ten_give_the_same_attack(loss, algorithm, keep):
    model = toy_model()
    batch = toy_batch(model)
    attack = Attack(algorithm=attacks.build({"kind": algorithm, "loss": loss, "steps": 8}), threat=THREAT, keep=keep)
    plain, loud = (attack.perturb(network, batch, 0) for network in (model, Louder(model)))
    for one, other in zip(plain.results, loud.results, strict=True):
        assert torch.allclose(one.images, other.images, atol=1e-6)
        assert (one.images != batch.images).any()


def test_the_unit_is_the_clean_images_mean_margin_at_every_look():
    model = toy_model()
    batch = toy_batch(model)
    seen = []
    problem = Problem(model, batch, THREAT)
    for _ in range(2):
        problem.look(problem.start(random=True), lambda view: seen.append(view.unit) or view.logits[:, 0])
    with torch.no_grad():
        clean = margins(model(batch.images), batch.labels).abs()
    expected = torch.stack([values[valid].mean() for values, valid in zip(clean, batch.valid, strict=True)])
    for unit in seen:
        assert torch.allclose(unit.flatten(), expected)


@pytest.mark.parametrize("never", [-1e9, -torch.inf])
@pytest.mark.parametrize("loss", ANNEALED)
def test_a_class_that_the_model_never_says_does_not_soften_the_attack(loss, never):
    """Its pixels are wrong and stay so; by their distance the temperature would never fall."""
    model = toy_model()
    batch = toy_batch(model)

    class Silent(Louder):
        def forward(self, images):
            return self.model(images).index_fill(1, torch.tensor([0]), never)

    silent = Silent(model)
    attack = Attack(algorithm=attacks.build(f"{loss}?steps=20"), threat=THREAT)
    images = attack.perturb(silent, batch, 0).results[0].images
    pgd = Attack(algorithm=attacks.build("pgd?steps=20"), threat=THREAT).perturb(silent, batch, 0).results[0].images
    left, beside = (((silent(each).argmax(1) == batch.labels) & batch.valid).sum() for each in (images, pgd))
    assert left < beside


def test_a_long_first_step_is_a_setting_and_the_last_step_is_short():
    model = toy_model()
    batch = toy_batch(model)
    looks = []

    class Watched(Problem):
        def look(self, delta, *args, **rest):
            looks.append(delta.clone())
            return super().look(delta, *args, **rest)

    attacks.build("momentum?steps=10&shortest=0.01&longest=2").run(Watched(model, batch, THREAT, keep="last"))
    moves = [float((after - before).abs().max()) for before, after in pairwise(looks)]
    assert moves[0] > 1.5 * THREAT.radius  # from a random start into a corner, bounded by the box
    assert moves[-1] < 0.3 * THREAT.radius
