"""Objects and pixels attacked one by one."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from segstress.attacks import Attack
from segstress.attacks.alone import sampled
from segstress.core import BadInput, Threat, perturbations
from segstress.metrics.counts import predict
from segstress.metrics.objects import objects
from segstress.testing.toys import toy_batch, toy_model

ATTACK = {"kind": "momentum", "loss": "margin", "steps": 6}
RADIUS = 0.08


def alone(parts="objects", **given):
    spec = {"kind": "alone", "parts": parts, "algorithm": ATTACK, "threat": {"radius": RADIUS}, "number": 9, **given}
    return perturbations.build(spec)


@pytest.fixture
def model():
    return toy_model()


@pytest.fixture
def batch(model):
    return toy_batch(model)


def clean_of(model, batch):
    with torch.no_grad():
        return predict(model(batch.images))


def pieces(batch, place, background=None):
    return objects(batch.labels[place].numpy(), batch.valid[place].numpy(), background)


def test_every_object_shows_its_own_attack_and_all_else_the_clean_prediction(model, batch):
    """The composition done again from the strikes, object by object, the slow way."""
    clean = clean_of(model, batch)
    expected = clean.clone()
    for strike in alone().strikes(model, batch, clean, 0):
        found = pieces(batch, strike.position)
        for number, image in zip(strike.numbers, strike.images, strict=True):
            part = torch.from_numpy(found.components == number + 1)
            expected[strike.position][part] = predict(model(image[None]))[0][part]
    shown = alone().perturb(model, batch, 0).results[0].prediction
    assert torch.equal(shown, expected)
    assert torch.equal(shown[~batch.valid], clean[~batch.valid])


def test_more_falls_alone_than_under_the_same_attack_on_all(model, batch):
    joint = Attack(algorithm=alone().algorithm, threat=Threat(radius=RADIUS))
    together = predict(model(joint.perturb(model, batch, 0).results[0].images))
    one_by_one = alone("pixels", number=144).perturb(model, batch, 0).results[0].prediction
    clean, together, one_by_one = (
        int(((seen == batch.labels) & batch.valid).sum()) for seen in (clean_of(model, batch), together, one_by_one)
    )
    assert one_by_one < together < clean


def test_only_the_part_is_aimed_at_and_the_delta_acts_everywhere(model, batch):
    for strike in alone("pixels").strikes(model, batch, clean_of(model, batch), 0):
        assert (strike.aims.flatten(1).sum(1) == 1).all()
        changed = (strike.images != batch.images[strike.position]).any(1)
        fallen = (predict(model(strike.images)) != batch.labels[strike.position]) & strike.aims
        for moved, won, aim in zip(changed, fallen, strike.aims, strict=True):
            if won.any():
                assert (moved & ~aim).any()


@pytest.mark.parametrize(("norm", "radius"), [("linf", RADIUS), ("l2", 1.0)])
def test_every_image_stays_in_box_and_ball(model, batch, norm, radius):
    change = alone(threat={"radius": radius, "norm": norm})
    for strike in change.strikes(model, batch, clean_of(model, batch), 0):
        delta = (strike.images - batch.images[strike.position]).flatten(1)
        assert strike.images.min() >= 0
        assert strike.images.max() <= 1
        assert (delta.norm(p=torch.inf if norm == "linf" else 2, dim=1) <= radius + 1e-9).all()


@pytest.mark.parametrize("parts", ["objects", "pixels"])
def test_the_number_of_copies_in_a_pass_changes_nothing(model, batch, parts):
    few, many = (alone(parts, together=pixels).perturb(model, batch, 0) for pixels in (1, 20 * 144))
    assert torch.equal(few.results[0].prediction, many.results[0].prediction)
    assert torch.equal(few.forwards, many.forwards)
    assert torch.equal(few.backwards, many.backwards)


def test_the_number_of_copies_in_a_pass_is_bounded(model, batch):
    strikes = list(alone(together=3 * 144).strikes(model, batch, clean_of(model, batch), 0))
    assert max(len(strike.images) for strike in strikes) == 3


@pytest.mark.parametrize("parts", ["objects", "pixels"])
def test_an_image_alone_is_as_in_a_batch(model, batch, parts):
    together = alone(parts).perturb(model, batch, 0)
    for place in range(len(batch)):
        by_itself = alone(parts).perturb(model, batch.pick([place]), 0)
        assert torch.equal(by_itself.results[0].prediction[0], together.results[0].prediction[place])
        assert by_itself.forwards[0] == together.forwards[place]


def test_drawn_pixels_depend_on_seed_and_id_alone():
    valid = torch.ones(20, 30, dtype=torch.bool)
    valid[:4] = False
    drawn = sampled(valid, 50, 0, "one")
    assert torch.equal(drawn, sampled(valid, 50, 0, "one"))
    assert not torch.equal(drawn > 0, sampled(valid, 50, 0, "two") > 0)
    assert not torch.equal(drawn > 0, sampled(valid, 50, 1, "one") > 0)
    assert sorted(drawn[drawn > 0].tolist()) == list(range(1, 51))
    assert not drawn[:4].any()


def test_drawn_pixels_are_a_fair_sample():
    """Every valid pixel is drawn about equally often."""
    times = sum((sampled(torch.ones(5, 8, dtype=torch.bool), 10, 0, f"{n}") > 0).double() for n in range(2000))
    assert (times / 2000 - 0.25).abs().max() < 0.05


def test_all_pixels_are_taken_where_there_are_fewer_than_asked():
    assert (sampled(torch.ones(3, 4, dtype=torch.bool), 200, 0, "small") > 0).all()


def test_an_image_without_objects_costs_nothing_and_stays(model, batch):
    plain = replace(batch, labels=torch.zeros_like(batch.labels))
    clean = clean_of(model, plain)
    assert list(alone().strikes(model, plain, clean, 0, background=0)) == []
    nothing = alone("pixels").perturb(model, replace(plain, valid=torch.zeros_like(plain.valid)), 0)
    assert torch.equal(nothing.results[0].prediction, clean)
    assert nothing.forwards.tolist() == [1, 1, 1]


def test_what_is_wrong_already_is_not_attacked(model, batch):
    wrong = replace(batch, labels=(clean_of(model, batch) + 1) % 4)
    for parts in ("objects", "pixels"):
        done = alone(parts).perturb(model, wrong, 0)
        assert done.forwards.tolist() == [1, 1, 1]
        assert not done.backwards.any()
        assert torch.equal(done.results[0].images, wrong.images)
    assert alone("pixels").zones(wrong, 0)["sampled"].flatten(1).sum(1).tolist() == [9, 9, 9]


def test_background_is_no_object(model, batch):
    clean = clean_of(model, batch)
    struck = {0: set(), None: set()}
    for background, numbers in struck.items():
        for strike in alone().strikes(model, batch, clean, 0, background):
            classes = pieces(batch, strike.position, background).classes
            numbers.update(int(classes[number]) for number in strike.numbers)
    assert 0 in struck[None]
    assert struck[0] == struck[None] - {0}


def test_passes_stay_within_what_is_declared(model, batch):
    change = alone()
    done = change.perturb(model, batch, 0)
    for place in range(len(batch)):
        forwards, backwards = (len(pieces(batch, place).classes) * most for most in change.passes())
        assert 1 < int(done.forwards[place]) <= forwards + 1
        assert 0 < int(done.backwards[place]) <= backwards


def test_settings_survive_json_and_name_the_attack():
    change = alone("pixels")
    assert perturbations.build(json.loads(json.dumps(perturbations.spec(change)))) == change
    assert change.label.startswith("9 pixels alone by momentum(loss=margin, steps=6) linf ")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threat": {}}, "eps"),
        ({"threat": {"radius": 0.1, "target": 1}}, "leave target"),
        ({"algorithm": {"kind": "fmn"}}, "within a radius"),
        ({"number": 0}, "number"),
        ({"algorithm": {"kind": "segpgd"}}, "keep=last; give it keep=best"),
        ({"algorithm": {"kind": "sea-mce-bal", "keep": "best"}}, "balance=image"),
        ({"parts": "classes"}, "parts"),
    ],
)
def test_what_cannot_be_attacked_alone_is_refused(given, words):
    with pytest.raises(BadInput, match=words):
        alone(**given)


def test_the_image_handed_over_is_the_farthest_of_its_parts(model, batch):
    done = alone().perturb(model, batch, 0).results[0]
    assert np.allclose(done.size, (done.images - batch.images).abs().flatten(1).amax(1))
    assert (done.size > 0).all()
