"""What attacks that seek the smallest delta must keep besides."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor, nn

from ..attacks import Algorithm
from ..core import Batch
from .toys import linear_model, scaled_batch, toy_batch
from .trial import attack_of, perturb, remaining


def check_finds_small(algorithm: Algorithm) -> None:
    """Check that without a radius it breaks the linear model as near its optimum as declared, at every scale."""
    factor = algorithm.reaches
    assert factor is not None, "it declares nothing; leave this check out"
    for optimum in (0.8 / 255, 25 / 255):
        model = linear_model()
        batch = scaled_batch(model, optimum)
        result = perturb(attack_of(algorithm, math.inf), model, batch).results[0]
        size = float(result.size)
        assert _won(model, batch, result.images) >= 0.99, f"not broken, at {size} where {optimum} is enough"
        assert size <= factor * optimum, f"size {size}, {size / optimum:.3f} times the optimum, declared {factor}"


def _won(model: nn.Module, batch: Batch, images: Tensor) -> float:
    """Return the smallest share of wrong pixels of an image, by a fresh forward pass."""
    return float((1 - remaining(model, batch, images) / batch.valid.flatten(1).sum(1)).min())


def check_orders_thresholds(algorithm: Algorithm) -> None:
    """Check, without a radius: more broken pixels are no smaller, polishing enlarges nothing, no_grad is no matter."""
    model = linear_model(4)
    batch = toy_batch(model, wide=False)
    with torch.no_grad():
        results = perturb(attack_of(algorithm, math.inf), model, batch).results
    assert [result.goal for result in results] == ["99%", "95%", "90%"], "one result for each threshold was expected"
    for result in results:
        assert result.raw_size is not None, "the size before polishing is missing"
        assert (result.size <= result.raw_size).all(), f"polishing enlarged the result for {result.goal}"
    shares = [_won(model, batch, result.images) for result in results]
    for (more, less), (enough, _) in zip(pairwise(results), pairwise(shares), strict=True):
        assert enough < 0.9 or (less.size <= more.size).all(), f"{less.goal} took more than {more.goal}"


def check_tells_failure(algorithm: Algorithm) -> None:
    """Check, without a radius: images unbreakable, broken already or all void each get their row."""
    model = linear_model()
    batch = toy_batch(model, wide=False)
    broken = replace(batch, labels=torch.where(batch.valid, 1 - model(batch.images).argmax(1), 0))
    result = perturb(attack_of(algorithm, math.inf), model, broken).results[0]
    assert (result.size == 0).all(), "an image that is broken already needs no delta"
    void = replace(batch, labels=torch.zeros_like(batch.labels), valid=torch.zeros_like(batch.valid))
    result = perturb(attack_of(algorithm, math.inf), model, void).results[0]
    assert torch.equal(result.images, batch.images), "an image without valid pixels was changed"
    with torch.no_grad():
        model.weight.zero_()  # biases alone decide, for the first class, whatever the image
    stubborn = replace(batch, labels=torch.zeros_like(batch.labels))
    result = perturb(attack_of(algorithm, math.inf), model, stubborn).results[0]
    assert torch.isfinite(result.images).all(), "a model that cannot be broken gave pixels that are not numbers"
    assert _won(model, stubborn, result.images) == 0, "a model that cannot be broken was said to be"
