"""Models that answer together: the mixture is exact, at its ends to the bit."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
import torch

from segstress import models
from segstress.core import BadInput

FIRST, SECOND = "compact:cnn?classes=3", "compact:transformer?classes=3"
IMAGES = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def mix(*shares: float, members: tuple[str, ...] = (FIRST, SECOND)) -> dict[str, Any]:
    return {"kind": "ensemble", "members": list(members), "shares": list(shares)}


def test_probabilities_are_averaged() -> None:
    one, two = (models.load(spec)(IMAGES).softmax(1) for spec in (FIRST, SECOND))
    torch.testing.assert_close(models.load(mix(0.3, 0.7))(IMAGES).softmax(1), 0.3 * one + 0.7 * two)


@pytest.mark.parametrize(("shares", "alone"), [((1, 0), FIRST), ((0, 1), SECOND)])
def test_the_ends_are_exact(shares: tuple[float, float], alone: str) -> None:
    assert torch.equal(models.load(mix(*shares))(IMAGES), models.load(alone)(IMAGES))


def test_the_level_is_that_of_the_members() -> None:
    levels = [models.load(spec)(IMAGES).logsumexp(1) for spec in (FIRST, SECOND)]
    torch.testing.assert_close(models.load(mix(0.3, 0.7))(IMAGES).logsumexp(1), 0.3 * levels[0] + 0.7 * levels[1])


def test_a_certain_member_leaves_logits_and_gradients_finite() -> None:
    ensemble = models.load(mix(0.5, 0.5))
    with torch.no_grad():
        ensemble.network.members[0].network.classify.bias[0] = 1e4
    images = IMAGES.clone().requires_grad_()
    logits = ensemble(images)
    logits.sum().backward()
    assert logits.isfinite().all()
    assert images.grad is not None
    assert images.grad.isfinite().all()


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (mix(0.3, 0.3), "expected 2 that sum to 1"),
        (mix(1.0), "expected 2 that sum to 1"),
        (mix(1.0, members=(FIRST,)), "at least 2"),
        (mix(1.5, -0.5), "less than or equal to 1"),
        (mix(0.5, 0.5, members=(FIRST, "compat:cnn")), "unknown model 'compat'"),
    ],
)
def test_shares_and_members_that_make_no_mixture_are_refused(spec: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        models.load(spec)


def test_members_with_other_classes_are_refused() -> None:
    ensemble = models.load(mix(0.5, 0.5, members=(FIRST, "compact:cnn?classes=4")))
    with pytest.raises(BadInput, match=r"same classes, found \[3, 4\]"):
        ensemble(IMAGES)


def test_on_the_command_line_and_back() -> None:
    chosen = models.models.build("ensemble?members=compact:cnn,compact:transformer&shares=0.25,0.75")
    assert chosen.label == "0.25-cnn+0.75-transformer"
    assert models.models.build(json.loads(json.dumps(models.models.spec(chosen)))) == chosen
    assert pickle.loads(pickle.dumps(chosen)) == chosen
