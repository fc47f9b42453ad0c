"""APGD beside a plain reference: one image, explicit history, no shared code."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from segstress.attacks import Attack, attacks
from segstress.attacks.algorithms.apgd import APGD, checkpoints
from segstress.core import Threat
from segstress.testing import linear_model, toy_batch, toy_model
from segstress.testing.contract import check_keeps_budget
from segstress.testing.trial import attack_of

RADIUS = 0.06


def loss_of(name, logits, labels, valid, progress):
    """The losses of SEA, written once more: image sums over valid pixels."""
    p = logits.softmax(1)[0].gather(0, labels)[0]
    right = (logits.argmax(1)[0] == labels[0]).double()
    ce = functional.cross_entropy(logits, labels, reduction="none")[0]
    values = {
        "ce": ce,
        "masked-ce": right * ce,
        "segpgd": ((1 - progress / 2) * right + progress / 2 * (1 - right)) * ce,
        "jsd": 0.5 * (p * p.log() - (1 + p) * (1 + p).log()),
    }[name]
    return values[valid[0]].sum()


class Reference:
    """One stage of APGD on one image in image space, after the published pseudo-code."""

    def __init__(self, model, batch, loss, radius, steps, wrapped):
        self.model, self.image, self.labels, self.valid = model, batch.images, batch.labels, batch.valid
        self.loss, self.radius, self.steps, self.wrapped = loss, radius, steps, wrapped

    def clip(self, x):
        return torch.clip(torch.clip(x, self.image - self.radius, self.image + self.radius), 0, 1)

    def evaluate(self, x, step):
        x = x.clone().requires_grad_()
        logits = self.model(x)
        value = loss_of(self.loss, logits, self.labels, self.valid, step / self.steps)
        gradient = torch.autograd.grad(value, x)[0]
        tracked = float(loss_of("ce", logits.detach(), self.labels, self.valid, 0))
        right = int(((logits.argmax(1) == self.labels) & self.valid).sum())
        return gradient, tracked, right

    def run(self, x):
        window, eta, old = max(int(0.22 * self.steps), 1), 2 * self.radius, x
        gradient, tracked, right = self.evaluate(x, 0)
        history = [0.0 if self.wrapped else tracked]
        best, best_x, best_gradient, best_before = tracked, x, gradient, tracked
        lowest, lowest_x, halved, since = right, x, True, 0
        visited = [x]
        for i in range(self.steps):
            a = 1.0 if i == 0 else 0.75
            z = self.clip(x + eta * gradient.sign())
            x, old = self.clip(x + a * (z - x) + (1 - a) * (x - old)), x
            gradient, tracked, right = self.evaluate(x, i + 1)
            visited.append(x)
            history.append(tracked)
            if right < lowest:
                lowest, lowest_x = right, x
            if tracked > best:
                best, best_x, best_gradient = tracked, x, gradient
            since += 1
            if since == window:
                increases = sum(history[j] > history[j - 1] for j in range(i + 2 - window, i + 2))
                halved = increases <= 0.75 * window or (not halved and best == best_before)
                if halved:
                    eta, x, gradient = eta / 2, best_x, best_gradient
                best_before, since = best, 0
                window = max(window - max(int(0.03 * self.steps), 1), max(int(0.06 * self.steps), 1))
        self.highest = best_x
        return visited, lowest_x


def watch(algorithm, model, batch):
    """Every image that the model is shown by the search itself, and the one returned."""
    seen = []
    handle = model.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].detach().clone()))
    result = Attack(algorithm=algorithm, threat=Threat(radius=RADIUS)).perturb(model, batch, 3).results[0]
    handle.remove()
    return (seen if algorithm.keep == "last" else seen[1:-1]), result.images


@pytest.mark.parametrize("first", ["start", "zero"])
@pytest.mark.parametrize("loss", ["ce", "masked-ce", "segpgd", "jsd"])
def test_follows_the_reference_step_by_step(loss, first):
    model = toy_model()
    batch = toy_batch(model).pick([1])
    seen, returned = watch(APGD(loss=loss, steps=40, first=first), model, batch)
    reference = Reference(model, batch, loss, RADIUS, 40, wrapped=first == "zero")
    visited, lowest = reference.run(seen[0])
    assert len(seen) == len(visited) == 41
    for ours, theirs in zip(seen, visited, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-12)
    assert torch.allclose(returned, reference.highest, atol=1e-12), "apgd returns the iterate of the highest loss"
    assert not torch.equal(reference.highest, lowest), "which has the fewest right pixels too, so this tells nothing"


def test_progressive_radius_follows_the_reference_stage_by_stage():
    model = toy_model()
    batch = toy_batch(model).pick([0])
    seen, _ = watch(attacks.build("progressive-mce?steps=40"), model, batch)
    assert len(seen) == 13 + 13 + 17
    start, begin = seen[0], 0
    for multiple, steps in ((2, 12), (1.5, 12), (1, 16)):
        stage = Reference(model, batch, "masked-ce", multiple * RADIUS, steps, wrapped=False)
        visited, start = stage.run(stage.clip(start))
        for ours, theirs in zip(seen[begin : begin + steps + 1], visited, strict=True):
            assert torch.allclose(ours, theirs, atol=1e-12)
            assert (ours - batch.images).abs().max() <= multiple * RADIUS + 1e-12
        begin += steps + 1


@pytest.mark.parametrize(
    ("steps", "places"),
    [
        (90, [19, 36, 51, 64, 75, 84]),
        (120, [26, 49, 69, 86, 100, 111, 119]),
        (100, [22, 41, 57, 70, 80, 87, 93, 99]),
        (300, [66, 123, 171, 210, 240, 261, 279, 297]),
    ],
)
def test_checks_come_where_the_published_code_has_them(steps, places):
    checks = checkpoints(steps)
    assert list(checks) == places
    assert list(checks.values()) == [now - then for then, now in zip([0, *places], places, strict=False)]


def test_stages_split_the_steps_three_three_four():
    assert attacks.build("progressive-mce").stages() == [(2.0, 90), (1.5, 90), (1.0, 120)]
    assert attacks.build("apgd").stages() == [(1.0, 100)]


def test_a_budget_too_small_for_three_stages_is_kept():
    assert attacks.build("progressive-mce?steps=2").stages() == [(1.0, 2)]
    check_keeps_budget(attacks.build("progressive-mce?steps=2"))


def test_the_first_start_is_drawn_from_the_larger_ball():
    model = toy_model()
    batch = toy_batch(model, side=24).pick([0])
    first = watch(APGD(steps=10, progressive=True), model, batch)[0][0]
    free = (batch.images > 2 * RADIUS) & (batch.images < 1 - 2 * RADIUS)
    delta = (first - batch.images)[free]
    assert 1.9 * RADIUS < delta.abs().max() <= 2 * RADIUS
    assert delta.mean().abs() < 0.1 * RADIUS


def test_an_image_broken_in_a_larger_ball_rests_until_the_next():
    model = linear_model()
    batch = toy_batch(model, wide=False)
    attack = Attack(algorithm=attacks.build("progressive-mce?steps=100"), threat=Threat(radius=0.2))
    assert (attack.perturb(model, batch, 0).forwards < 30).all()


def targeting():
    """Every attack but those that need a folder, or seek the smallest delta in the published number of steps."""
    names = [name for name in attacks.names() if not name.endswith("-of-tests") and name != "transfer"]
    return [name for name in names if attacks.fixed(name).get("keep") != "smallest"]


@pytest.mark.parametrize("name", targeting())
def test_targets_are_reached_more_often_than_by_doing_nothing(name):
    model = toy_model()
    batch = toy_batch(model)
    steps = {"steps": 60} if getattr(attacks.build(name), "steps", 0) > 60 else {}
    attack = attack_of(attacks.build({"kind": name, **steps}), threat=Threat(radius=RADIUS, target=2))
    (result,) = attack.perturb(model, batch, 0).results
    with torch.no_grad():
        before, after = ((model(images).argmax(1) == 2).flatten(1).sum(1) for images in (batch.images, result.images))
    assert (after > before + 3).all(), (before.tolist(), after.tolist())
