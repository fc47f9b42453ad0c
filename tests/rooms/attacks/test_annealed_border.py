"""The annealed border: the pixel that decides, the rivals that are reached first, and freedom from scale."""

from __future__ import annotations

import copy
from dataclasses import replace
from statistics import median

import pytest
import torch

from segstress.attacks import Attack, Problem, attacks
from segstress.attacks.losses import View
from segstress.attacks.minimal.deciding import deciding_distance, easiest_rivals
from segstress.core import Threat
from segstress.testing.toys import linear_model, scaled_batch, toy_batch, toy_model


def found(spec, model, batch, **threat):
    return Attack(algorithm=attacks.build(spec), threat=Threat(**threat)).perturb(model, batch, 0)


@pytest.mark.parametrize("enough", [0.5, 0.9, 0.99, 1.0])
def test_the_pixel_that_decides_is_the_hardest_that_must_be_won(enough):
    generator = torch.Generator().manual_seed(0)
    distance, aim = torch.randn(3, 20, 20, generator=generator), torch.rand(3, 20, 20, generator=generator) < 0.7
    aim[2] = False
    deciding = deciding_distance(distance, aim, enough)
    for each, mask, limit in zip(distance[:2], aim[:2], deciding, strict=False):
        won = [int((each[mask] <= limit).sum()), int((each[mask] < limit).sum())]
        needed = round(1000 * enough) * int(mask.sum())
        assert 1000 * won[0] >= needed > 1000 * won[1]
    assert deciding[2] == -torch.inf


def test_rivals_are_the_classes_whose_border_is_nearest():
    model = linear_model(7, 3)
    batch = toy_batch(model, 2, wide=False)
    with torch.no_grad():
        problem = Problem(model, batch, Threat(), seeks="smallness")
        rivals = easiest_rivals(problem, torch.tensor([0.1, 0.05], dtype=torch.float64), 7)
        logits = model(batch.images)
    weights = model.weight[:, :, 0, 0]
    steepness = torch.cdist(weights, weights, p=1)[batch.labels].movedim(-1, 1)
    radii = (logits.gather(1, batch.labels[:, None]) - logits) / steepness
    nearest = radii.nan_to_num(nan=torch.inf).argmin(1)
    remaining = batch.valid & (logits.argmax(1) == batch.labels)
    assert torch.equal(rivals[remaining], nearest[remaining])
    assert (nearest != logits.scatter(1, batch.labels[:, None], -torch.inf).argmax(1))[remaining].any()
    assert problem.forwards.tolist() == [1 + 2 * 7] * 2
    assert problem.backwards.tolist() == [7] * 2


def ratios(spec, classes):
    for seed in (1000, 1001, 1002):
        for optimum in (0.8 / 255, 25 / 255):
            model = linear_model(classes, seed)
            batch = scaled_batch(model, optimum, 24, seed=seed)
            yield float(found(spec, model, batch).results[0].size) / optimum


@pytest.mark.parametrize("classes", [2, 7])
def test_a_linear_model_is_broken_at_its_optimum(classes):
    assert max(ratios("annealed-border", classes)) <= 1.05


def test_without_its_rivals_it_is_not():
    assert median(ratios("annealed-border?rivals=false", 7)) > 1.05


def results_of_scales():
    model = toy_model()
    louder = copy.deepcopy(model)
    louder[-1].weight.data *= 10
    batch = toy_batch(model)
    return [found("annealed-border?steps=120", each, batch).results[0].images for each in (model, louder)]


def test_louder_logits_give_the_same_delta():
    torch.testing.assert_close(*results_of_scales(), rtol=0, atol=1e-6)


def test_that_test_sees_a_unit_that_is_not_the_image_s_own(monkeypatch):
    monkeypatch.setattr(View, "unit", property(lambda view: torch.ones_like(view.logits[:, 0, :1, :1])))
    plain, loud = results_of_scales()
    assert (plain - loud).abs().max() > 1e-6


@pytest.mark.parametrize(("steps", "backwards"), [(100, 100 - 12), (47, 47), (1, 1)])
def test_choosing_rivals_is_part_of_the_steps_and_left_out_where_it_would_cost_too_much(steps, backwards):
    model = toy_model(12)
    result = found(f"annealed-border?steps={steps}", model, toy_batch(model, 1))
    assert result.backwards.tolist() == [backwards]
    assert int(result.forwards) <= steps + 22


def test_a_goal_has_no_rivals():
    model = toy_model()
    result = found("annealed-border?steps=60", model, toy_batch(model, 1), target=2, enough=0.9)
    assert result.backwards.tolist() == [60]


def test_an_image_that_is_nearly_lost_already_is_searched_too():
    """With 85 % wrong on the clean image the ball must not shrink to nothing before the search has begun."""
    model = toy_model()
    batch = toy_batch(model)
    with torch.no_grad():
        prediction = model(batch.images).argmax(1)
    wrong = torch.rand(prediction.shape, generator=torch.Generator().manual_seed(0)) < 0.85
    labels = torch.where(wrong, (prediction + 1) % 4, prediction)
    images = (
        found("annealed-border", model, replace(batch, labels=torch.where(batch.valid, labels, 0))).results[0].images
    )
    with torch.no_grad():
        right = batch.valid & (model(images).argmax(1) == labels)
    assert (100 * right.flatten(1).sum(1) <= batch.valid.flatten(1).sum(1)).all()
