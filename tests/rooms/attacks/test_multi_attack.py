"""The region-aware multi-attack."""

import json
import math
from dataclasses import replace

import pytest
import torch

from segstress.attacks.losses import View, losses
from segstress.core import BadInput, perturbations
from segstress.core.registry import Entry
from segstress.metrics.counts import predict
from segstress.planning.spatial import multi_attack_spec, spatial_battery
from segstress.testing.toys import toy_batch, toy_model

REGION = {"kind": "box", "height": 6, "width": 6}
ATTACK = {"kind": "pgd", "steps": 6, "random_start": False, "keep": "last"}


def multi(**given):
    spec = {"kind": "multi-attack", "threat": {"radius": 0.3}, "region": REGION, "attack": ATTACK, **given}
    return perturbations.build(spec)


@pytest.fixture
def model():
    return toy_model()


@pytest.fixture
def batch(model):
    return toy_batch(model)


def right(batch, prediction, zone=None):
    counted = batch.valid if zone is None else batch.valid & zone
    return ((prediction == batch.labels) & counted).flatten(1).sum(1)


@pytest.mark.parametrize("every_iterate", [False, True])
def test_together_they_fool_more_with_each_and_more_than_any(model, batch, every_iterate):
    done = multi(number=4, every_iterate=every_iterate).perturb(model, batch, 0)
    results = {result.goal: result for result in done.results}
    before = right(batch, predict(model(batch.images)))
    for number in range(1, 5):
        alone = right(batch, predict(model(results[f"attack-{number}"].images)))
        after = right(batch, results[f"cumulative-{number}"].prediction)
        assert (after <= before).all(), "a later attack gave pixels back"
        assert (after <= alone).all(), "a single attack is worse than all together"
        before = after
    assert (
        right(batch, predict(model(batch.images)), done.zones["aim"])
        > right(batch, results["cumulative-4"].prediction, done.zones["aim"])
    ).all()


def test_pixels_keep_the_first_wrong_class_and_else_the_clean_prediction(model, batch):
    done = multi(number=3).perturb(model, batch, 0)
    expected = predict(model(batch.images))
    for number in (1, 2, 3):
        shown = predict(model(done.results[2 * number - 2].images))
        newly = (expected == batch.labels) & batch.valid & (shown != batch.labels)
        expected = torch.where(newly, shown, expected)
        assert torch.equal(done.results[2 * number - 1].prediction, expected)


def test_every_iterate_fools_at_least_as_much(model, batch):
    last, every = (
        right(batch, multi(number=1, every_iterate=way).perturb(model, batch, 0).results[1].prediction)
        for way in (False, True)
    )
    assert (every <= last).all()
    assert (every < last).any()


def test_stays_in_box_ball_and_region(model, batch):
    done = multi(threat={"radius": 0.1}).perturb(model, batch, 0)
    for result in done.results:
        delta = result.images - batch.images
        assert result.images.min() >= 0
        assert result.images.max() <= 1
        assert delta.abs().max() <= 0.1 + 1e-9
        assert not (delta.abs().amax(1) > 0)[done.zones["outside"]].any()
        assert delta.abs().max() > 0.05


def test_alone_as_in_a_batch_and_void_ignored(model, batch):
    change = multi(number=2)
    together = change.perturb(model, batch, 0)
    alone = change.perturb(model, batch.pick([1]), 0)
    other = change.perturb(model, replace(batch, labels=torch.where(batch.valid, batch.labels, 1)), 0)
    for many, one, relabelled in zip(together.results, alone.results, other.results, strict=True):
        assert torch.allclose(many.images[1], one.images[0], atol=1e-9)
        assert torch.equal(many.images, relabelled.images)
    assert int(alone.forwards[0]) == int(together.forwards[1])


def test_passes_are_counted_and_within_what_is_declared(model, batch):
    change, calls = multi(number=2), []
    handle = model.register_forward_hook(lambda *_: calls.append(1))
    done = change.perturb(model, batch.pick([0]), 0)
    handle.remove()
    assert int(done.forwards[0]) == len(calls) <= change.passes()[0]
    assert int(done.backwards[0]) == 12 == change.passes()[1]


def test_nothing_left_to_fool_costs_nothing(model, batch):
    blind = replace(batch, labels=(predict(model(batch.images)) + 1) % 4)
    done = multi().perturb(model, blind, 0)
    assert done.forwards.tolist() == [1, 1, 1]
    assert all(torch.equal(result.images, batch.images) for result in done.results)


@pytest.mark.parametrize(
    ("region", "inside"),
    [({"kind": "box", "height": 999, "width": 999}, True), ({"kind": "rectangle", "top": 999}, False)],
)
def test_a_region_of_all_or_nothing_changes_nothing(model, batch, region, inside):
    done = multi(region=region).perturb(model, batch, 0)
    assert (done.zones["inside"] == inside).all()
    assert all(torch.equal(result.images, batch.images) for result in done.results)
    assert all(torch.equal(result.prediction, predict(model(batch.images))) for result in done.results[1::2])


def test_is_data_and_refuses_what_it_cannot_do():
    change = multi(every_iterate=True)
    assert perturbations.build(json.loads(json.dumps(perturbations.spec(change)))) == change
    assert "every iterate" in change.label
    with pytest.raises(BadInput, match="within a radius"):
        multi(threat={"radius": "inf"})
    with pytest.raises(BadInput, match="did you mean 'segpgd'"):
        multi(attack="segpg")


def test_the_label_says_what_is_kept_and_another_iterate_is_refused_in_one_line():
    paper = perturbations.build("multi-attack")
    assert paper.label == "3 x pgd-region linf 16/255"
    assert paper.about == "loss ce, steps 50, step 0.01568627450980392, random_start False, keep last; linf 16/255"
    for spec in (multi_attack_spec(24, "centre", 20, "16/255"), *spatial_battery("multi-attack")):
        change = perturbations.build(spec)
        assert "pgd-region" in change.label
        assert "keep" not in change.label
        assert "keep last" in change.about
    with pytest.raises(
        BadInput, match=r"expected an attack with keep=last, such as pgd-region, found .* keep=best"
    ) as no:
        multi(attack="pgd")
    assert "\n" not in str(no.value)


class TestTwoTerms:
    """Six pixels: three right and one wrong among the aimed, one right and one wrong that are not aimed at."""

    LABELS = torch.tensor([[[0, 0, 0, 1, 0, 1]]])  # of equal logits the first class is predicted
    EVERYWHERE = torch.ones_like(LABELS, dtype=torch.bool)
    AIM = torch.tensor([[[True, True, True, True, False, False]]])

    def weights(self, loss, **known):
        """What the loss multiplies the cross-entropy of each pixel by."""
        logits = torch.zeros(1, 2, 1, 6, dtype=torch.float64)
        view = View(logits, self.LABELS, self.AIM, self.EVERYWHERE.double(), 0.0, targeted=False, **known)
        return (losses.get(loss)(view)[self.AIM] / math.log(2)).tolist()

    def test_aimed_pixels_alone(self):
        assert self.weights("two-term-aimed") == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
        assert self.weights("two-term") == self.weights("two-term-aimed"), "without more being told"

    def test_released_over_the_whole_image(self):
        known = {"valid": self.EVERYWHERE, "sound": self.EVERYWHERE}
        assert self.weights("two-term", **known) == pytest.approx([1 / 8, 1 / 8, 1 / 8, 1 / 4])
        assert self.weights("two-term-aimed", **known) == self.weights("two-term-aimed")

    def test_released_leaves_out_what_was_never_right(self):
        never = self.EVERYWHERE & (self.LABELS == 0)
        assert self.weights("two-term", valid=self.EVERYWHERE, sound=never)[3] == 0


def test_losses_are_told_of_the_whole_image(model, batch, monkeypatch):
    views = []

    def spy(view):
        """Cross-entropy, overheard."""
        views.append(view)
        return losses.get("ce")(view)

    monkeypatch.setitem(losses._entries, "spy", Entry(spy, {}, ""))
    multi(number=2, attack={**ATTACK, "loss": "spy"}).perturb(model, batch, 0)
    right = batch.valid & (predict(model(batch.images)) == batch.labels)
    assert len(views) == 2 * ATTACK["steps"]
    for view in views:
        assert torch.equal(view.valid, batch.valid)
        assert torch.equal(view.sound, right)
    assert views[-1].aim.sum() < views[0].aim.sum()


class TestTowardsATarget:
    """Every pixel is wanted to be of class 1."""

    @pytest.fixture
    def wanted(self, batch):
        return replace(batch, goal=torch.ones_like(batch.labels), goal_valid=batch.valid)

    @staticmethod
    def reached(batch, prediction):
        return ((prediction == batch.goal) & batch.goal_valid).flatten(1).sum(1)

    @pytest.mark.parametrize("every_iterate", [False, True])
    def test_more_pixels_show_it_with_each_attack(self, model, wanted, every_iterate):
        change = multi(threat={"radius": 0.3, "target": 1}, number=3, every_iterate=every_iterate)
        results = {result.goal: result for result in change.perturb(model, wanted, 0).results}
        clean = before = self.reached(wanted, predict(model(wanted.images)))
        for number in (1, 2, 3):
            alone = self.reached(wanted, predict(model(results[f"attack-{number}"].images)))
            after = self.reached(wanted, results[f"cumulative-{number}"].prediction)
            assert (after >= before).all(), "a later attack gave pixels back"
            assert (after >= alone).all(), "a single attack is better than all together"
            before = after
        assert (after > clean).any()

    def test_pixels_that_never_show_it_stay_as_in_the_clean_prediction(self, model, wanted):
        change = multi(threat={"radius": 0.3, "target": 1}, number=2)
        clean, final = predict(model(wanted.images)), change.perturb(model, wanted, 0).results[-1].prediction
        assert torch.equal(final, torch.where(final == 1, 1, clean))

    def test_the_label_names_it(self):
        assert "to class 1" in multi(threat={"radius": 0.3, "target": 1}).label
