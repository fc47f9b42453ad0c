"""Minimal attacks where the smallest delta is known, and what they owe their users at the edges."""

from __future__ import annotations

import math
from statistics import median

import pytest
import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

import segstress
from segstress.attacks import Attack, attacks
from segstress.attacks.algorithms import alma_prox
from segstress.attacks.minimal.step_length import GivenRate, TrustBall
from segstress.attacks.search.feasible import Feasible
from segstress.attacks.search.polish import POLISHING
from segstress.attacks.search.problem import Problem
from segstress.core import Threat
from segstress.testing.toys import linear_model, scaled_batch, smallest_radius, toy_batch, toy_model

SMALL = [
    "annealed-border",
    *(f"{name}{own}" for name in ("alma-prox", "pdpgd", "pdgd", "fmn", "dag", "asma") for own in ("", "-auto")),
    "ddn-auto",
    "pgd-ce-search",
    "pgd-dlr-search",
    "ifgsm-search",
]
FRESH = range(1000, 1010)  # draws on which no constant was tuned


def attack_of(spec, **threat):
    return Attack(algorithm=attacks.build(spec), threat=Threat(**threat))


def ratio(spec, optimum, seed, side):
    """Polished size over the optimum, on a seven-class linear model."""
    model = linear_model(7, seed)
    batch = scaled_batch(model, optimum, side, seed=seed)
    result = attack_of(spec).perturb(model, batch, 0).results[0]
    wrong = ((model(result.images).argmax(1) != batch.labels) & batch.valid).sum() / batch.valid.sum()
    return float(result.size) / optimum if wrong >= 0.99 else math.inf


@pytest.mark.parametrize(
    ("spec", "factor"), [("annealed-border", 1.05), ("fmn-auto", 1.3), ("ddn-auto", 1.3), ("dag-auto", 1.6)]
)
def test_seven_classes_are_broken_near_the_optimum(spec, factor):
    assert median(ratio(spec, 0.8 / 255, seed, 24) for seed in FRESH[:3]) <= factor


@pytest.mark.slow
@pytest.mark.parametrize("optimum", [0.8 / 255, 25 / 255])
@pytest.mark.parametrize(
    ("spec", "factor"),
    [
        ("annealed-border", 1.05),
        ("alma-prox-auto", 1.25),
        ("pdpgd-auto", 1.3),
        ("fmn-auto", 1.3),
        ("ddn-auto", 1.3),
        ("dag-auto", 1.6),
    ],
)
def test_seven_classes_at_full_size(spec, factor, optimum):
    assert median(ratio(spec, optimum, seed, 48) for seed in FRESH) <= factor


@pytest.mark.parametrize(
    ("spec", "factor"),
    [
        ("annealed-border", 1.1),
        ("fmn-auto", 1.1),
        ("ddn-auto", 1.1),
        ("alma-prox-auto?steps=200", 1.1),
        ("pdpgd-auto?steps=200", 1.7),
        ("pdgd-auto?steps=200", 1.8),
    ],
)
def test_l2_is_broken_near_its_own_optimum(spec, factor):
    model = linear_model()
    batch = scaled_batch(model, 5 / 255)
    result = attack_of(spec, norm="l2").perturb(model, batch, 0).results[0]
    optimum = float(smallest_radius(model, batch, 0.99, "l2"))
    assert optimum * 0.999 <= float(result.size) <= factor * optimum


def test_pdpgd_finds_small_sums_and_the_fewest_pixels():
    model = linear_model()
    batch = scaled_batch(model, 5 / 255)
    found = {
        norm: attack_of("pdpgd-auto?steps=200", norm=norm).perturb(model, batch, 0).results[0]
        for norm in ("linf", "l1", "l0")
    }
    for result in found.values():
        assert ((model(result.images).argmax(1) != batch.labels) & batch.valid).sum() >= 0.99 * batch.valid.sum()
    assert float(found["l1"].size) < 0.8 * float((found["linf"].images - batch.images).abs().sum())
    right = int(((model(batch.images).argmax(1) == batch.labels) & batch.valid).sum())
    spared = int(batch.valid.sum()) - math.ceil(0.99 * int(batch.valid.sum()))
    assert int(found["l0"].size) == right - spared  # pixels are independent: each right one must change, but for 1 %


def test_sparse_norms_are_for_searches_that_have_a_step_for_them():
    with pytest.raises(ValueError, match="ddn-auto works in linf, l2, found norm l1"):
        attack_of("ddn-auto", norm="l1")
    with pytest.raises(ValueError, match="leave eps out"):
        attack_of("pdpgd", norm="l0", radius=5)


@pytest.mark.parametrize("name", ["annealed-border", "alma-prox-auto", "pdpgd-auto", "fmn-auto", "ddn-auto"])
def test_targeted_search_reaches_its_class(name):
    model = toy_model()
    batch = toy_batch(model)
    result = attack_of({"kind": name, "steps": 100}, target=2, enough=0.9).perturb(model, batch, 0).results[0]
    assert result.goal == "90%"
    assert ((model(result.images).argmax(1) == 2).flatten(1).double().mean(1) >= 0.9).all()


class Synchronisations(TorchDispatchMode):
    """Counts what makes the host wait for a GPU: values, and results whose shape depends on values."""

    WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "_unique2", "unique_dim", "bincount")

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operator, types, arguments=(), keywords=None):
        name = operator.overloadpacket._qualified_op_name.removeprefix("aten::")
        by_mask = name.startswith("index") and any(
            isinstance(each, torch.Tensor) and each.dtype is torch.bool for each in pytree.tree_leaves(arguments[1:2])
        )
        self.count += by_mask or name in self.WAITS
        return operator(*arguments, **(keywords or {}))


@pytest.fixture
def lists_count(monkeypatch):
    """A tensor's list is read past the dispatcher, so it is led through it."""
    monkeypatch.setattr(torch.Tensor, "tolist", lambda tensor: [each.item() for each in tensor.flatten()])


@pytest.mark.usefixtures("lists_count")
@pytest.mark.parametrize(
    "wait",
    [lambda t: t.sum().item(), lambda t: bool(t.any()), lambda t: t[t > 0], lambda t: t.sum(0, True).tolist()],
)
def test_the_counter_sees_every_way_to_wait(wait):
    with Synchronisations() as seen:
        wait(torch.ones(3))
    assert seen.count == 1


@pytest.mark.usefixtures("lists_count")
@pytest.mark.parametrize("name", [name for name in SMALL if not name.startswith("dag") and "search" not in name])
def test_the_host_waits_at_most_once_in_ten_steps(name):
    model = toy_model()
    batch = toy_batch(model)
    counts = []
    for steps in (20, 60):
        with Synchronisations() as seen:
            attack_of({"kind": name, "steps": steps}).perturb(model, batch, 0)
        counts.append(seen.count)
    assert counts[1] - counts[0] <= 4  # for 40 more steps


@pytest.mark.parametrize("name", SMALL)
def test_one_step_two_classes_and_void_minus_one_are_no_trouble(name):
    model = linear_model()
    batch = toy_batch(model, wide=False)
    labels = torch.where(batch.valid, batch.labels, -1)
    with torch.no_grad():
        seen = segstress.attack(name, model, batch.images, labels, ignore=-1, steps=1)
    assert torch.isfinite(seen.images).all()
    assert set(seen.norms) == {"linf", "l2", "l1"}
    assert torch.allclose(seen.size, seen.norms["linf"])


def test_labels_of_eight_bits_give_the_same():
    model = linear_model()
    batch = toy_batch(model, wide=False)
    labels = torch.where(batch.valid, batch.labels, 255)
    wide, narrow = (
        segstress.attack("ddn-auto", model, batch.images, each, steps=30) for each in (labels, labels.byte())
    )
    assert torch.equal(wide.images, narrow.images)


@pytest.mark.parametrize("radius", [math.inf, 0.1])
def test_dag_as_published_gives_the_clean_image_on_failure_and_ours_the_most_harmful(radius):
    model = toy_model()
    batch = toy_batch(model)
    ours, published = (
        attack_of({"kind": name, "steps": 5, "step": 0.01}, radius=radius).perturb(model, batch, 0).results[0]
        for name in ("dag-auto", "dag")
    )
    assert (ours.size > 0).all()
    assert torch.equal(published.images, batch.images)


def test_a_failed_dag_hands_over_nothing():
    model = toy_model()
    problem = Problem(model, toy_batch(model), Threat(radius=math.inf), seeks="smallness", keep="smallest")
    assert not attacks.build({"kind": "dag", "steps": 5, "step": 0.01}).run(problem).any()


@pytest.mark.parametrize("clip", ["clamp", "rescale"])
def test_inside_a_ball_the_clipped_delta_is_a_candidate(clip):
    model = linear_model()
    batch = scaled_batch(model, 25 / 255)
    attack = Attack(algorithm=attacks.build("ddn-auto"), threat=Threat(radius=10 / 255), clip=clip)
    for result in attack.perturb(model, batch, 0).results:
        assert float(result.size) <= 10 / 255 + 1e-9
        assert result.raw_size is None


def test_clean_prediction_as_reference_asks_for_other_pixels():
    model = linear_model()
    batch = toy_batch(model, wide=False)
    truth, prediction = (
        attack_of("ddn-auto", reference=reference).perturb(model, batch, 0).results[0]
        for reference in ("truth", "prediction")
    )
    changed = (model(prediction.images).argmax(1) != model(batch.images).argmax(1)) & batch.valid
    assert (changed.flatten(1).sum(1) / batch.valid.flatten(1).sum(1) >= 0.99).all()
    assert not torch.equal(truth.images, prediction.images)


@pytest.mark.parametrize(("reference", "more"), [("truth", 0), ("prediction", 1)])
def test_the_look_at_the_clean_prediction_is_counted(reference, more):
    model, calls = linear_model(), []
    batch = toy_batch(model, 1, wide=False)
    model.register_forward_hook(lambda *_: calls.append(1))
    attack = attack_of("dag-auto?steps=5", reference=reference)
    assert attack.perturb(model, batch, 0).forwards.tolist() == [len(calls)]
    assert attack.algorithm.passes() == (5, 5)
    assert attack.passes() == (5 + 1 + 1 + POLISHING + more, 5)  # and the clean image, the last iterate, the polish


def test_a_trust_ball_is_smaller_than_what_succeeds_and_grows_where_nothing_does():
    ball = TrustBall(Feasible(torch.full((2, 3, 2, 2), 0.5), "linf"), steps=10)
    delta = torch.full((2, 3, 2, 2), 0.4)
    assert ball.hold(delta).max() < 0.01  # a first success is sought among small deltas
    ball.update(torch.tensor([True, False]), torch.tensor([0.002, 0.002]))
    held = ball.hold(delta).flatten(1).amax(1)
    assert held[0] < 0.002 < held[1]
    ball.update(torch.tensor([False, False]), torch.tensor([0.002, 0.002]))
    grown = ball.hold(delta).flatten(1).amax(1)
    assert held[0] < grown[0] < 0.002
    assert held[1] < grown[1]
    for _ in range(100):
        ball.update(torch.tensor([False, False]), torch.tensor([0.5, 0.5]))
    assert ball.hold(delta)[1].max() == 0.4  # what is hard to break is not held for ever


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_steps_fade_from_the_first_success_or_from_the_middle(norm):
    """The published schedule: step_found is the first success before the middle, and the middle otherwise."""
    pace = GivenRate(Feasible(torch.full((2, 3, 2, 2), 0.5), norm), 10, 0.001)
    for step in range(10):
        pace.update(torch.tensor([step in (2, 4), step == 7]), torch.tensor([0.1, 0.1]))
    assert pace.elapsed(2).tolist() == [0, 0]
    assert pace.elapsed(6).tolist() == pytest.approx([4 / 8, 1 / 5])
    assert pace.elapsed(10).tolist() == [1, 1]


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_a_rate_of_ones_own_makes_the_published_steps(norm, monkeypatch):
    """With a rate, ALMA takes steps of lr T / (max(i - step_found, 0) + T), whatever the norm."""
    pulls = []

    def noted(allowed, moved, metric, pull, **_):
        pulls.append(pull.clone())
        return moved

    monkeypatch.setattr(alma_prox, "prox", noted)
    attack_of("alma-prox?steps=12", norm=norm, enough=1.0).perturb(toy_model(), toy_batch(toy_model()), 0)
    found = 6  # nothing succeeds in so few steps, so that fading begins in the middle
    span = 0.1 / 0.9 * (12 - found)
    expected = [0.001 * span / (max(step - found, 0) + span) for step in range(12)]
    assert torch.stack(pulls)[:, 0].tolist() == pytest.approx(expected)
