"""One attack on tensors in memory."""

from __future__ import annotations

import pytest
import torch

import segstress
from segstress.core import BadInput
from segstress.testing import toy_batch, toy_model


@pytest.fixture
def toy():
    model = toy_model()
    batch = toy_batch(model)
    return model, batch.images, batch.labels.masked_fill(~batch.valid, 255), batch


def test_figures_are_measured_on_the_returned_images(toy):
    model, images, labels, batch = toy
    result = segstress.attack("pgd", model, images, labels, eps="16/255", steps=10)
    with torch.no_grad():
        right = ((model(result.images).argmax(1) == labels) & (labels != 255)).flatten(1).sum(1)
    assert torch.equal(result.correct, right)
    assert torch.allclose(result.damage, 1 - right / batch.valid.flatten(1).sum(1).double())
    assert torch.equal(result.delta, result.images - images)
    assert torch.allclose(result.size, result.norms["linf"])
    assert result.forwards.tolist() == [12] * 3
    assert result.backwards.tolist() == [10] * 3


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_labels_of_any_integer_type(toy, dtype):
    model, images, labels, _ = toy
    results = [segstress.attack("pgd", model, images, each, eps=0.1, steps=3) for each in (labels, labels.to(dtype))]
    assert torch.equal(results[0].images, results[1].images)


def test_another_void_label(toy):
    model, images, labels, _ = toy
    negative = labels.masked_fill(labels == 255, -1)
    one = segstress.attack("pgd", model, images, labels, eps=0.1, steps=3)
    two = segstress.attack("pgd", model, images, negative, eps=0.1, steps=3, ignore=-1)
    assert torch.equal(one.images, two.images)


@pytest.mark.parametrize("whole", [True, False])
def test_targets_are_approached(toy, whole):
    model, images, labels, _ = toy
    target = 2 if whole else torch.full_like(labels, 2)
    with torch.no_grad():
        before = (model(images).argmax(1) == 2).double().flatten(1).mean(1)
    result = segstress.attack("pgd", model, images, labels, eps=0.15, target=target, steps=20)
    assert (result.damage > before).all()


def test_works_under_no_grad(toy):
    model, images, labels, _ = toy
    with torch.no_grad():
        assert segstress.attack("pgd", model, images, labels, eps=0.1, steps=3).damage.min() > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"images": "bright"}, "0, 1"),
        ({"labels": "short"}, "shape"),
        ({"labels": "high"}, "classes"),
        ({"eps": 8}, "8/255"),
        ({"name": "pgdd"}, "did you mean"),
        ({"steps": 0}, "steps"),
        ({"ignore": None}, "255"),
        ({"mode": "train"}, "eval"),
    ],
)
def test_mistakes_get_one_line(toy, change, words):
    model, images, labels, _ = toy
    if change.get("images"):
        images = images * 255
    if change.get("labels") == "short":
        labels = labels[:, 1:]
    if change.get("labels") == "high":
        labels = labels.masked_fill(labels == 1, 77)
    if change.get("mode"):
        model.train()
    settings = {key: value for key, value in change.items() if key in ("steps", "ignore")}
    with pytest.raises(BadInput) as caught:
        segstress.attack(change.get("name", "pgd"), model, images, labels, eps=change.get("eps", 0.1), **settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            lambda labels: torch.full_like(labels, 1)[:, 1:],
            "target: expected a label map (3, 12, 12), found (3, 11, 12)",
        ),
        (lambda labels: torch.full_like(labels, 77), "found id 77"),
        (lambda labels: 77, "found id 77"),
        (lambda labels: "mapp:wanted.png", "did you mean 'map'"),
        (lambda labels: "prediction", "no other"),
    ],
)
def test_targets_that_do_not_fit_get_one_line(toy, target, words):
    model, images, labels, _ = toy
    with pytest.raises(BadInput) as caught:
        segstress.attack("alma-prox", model, images, labels, target=target(labels), steps=1)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
