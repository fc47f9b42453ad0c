"""From pixels to counts: all that is ever kept of a prediction's quality is three integers per class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from ..core import BadImage

HITS, PREDICTED, ACTUAL = range(3)  # columns along the last axis of counts
BILLION = 10**9
Counted = TypeVar("Counted", int, np.ndarray)


def count(
    prediction: Int64[Tensor, "b h w"], labels: Int64[Tensor, "b h w"], zone: Bool[Tensor, "b h w"], classes: int
) -> Int64[Tensor, "b {classes} 3"]:
    """Count hits, predicted and actual pixels of each class inside the zone; the label `classes` has no truth."""
    # Pairs of label and prediction are counted once for all three; the last pair takes what is outside the zone, since
    # selecting pixels would be slower and would make a GPU wait.
    wide = classes + 1
    pairs = torch.where(zone, labels * wide + prediction, wide * wide - 1).flatten(1)
    totals = pairs.new_zeros(len(pairs), wide * wide).scatter_add_(1, pairs, torch.ones_like(pairs))
    totals = totals.view(-1, wide, wide)
    return torch.stack([totals.diagonal(dim1=1, dim2=2), totals.sum(1), totals.sum(2)], dim=2)[:, :classes]


@torch.no_grad()
def predict(
    logits: Float[Tensor, "b k h w"], *, check: bool = True, without: Sequence[Int64[Tensor, "b h w"]] = ()
) -> Int64[Tensor, "b h w"]:
    """Return the class with the largest logit at each pixel, but for those `without`; of equal ones the first.

    NaN and infinity are refused. The check makes a GPU wait; a loop may leave it out now and then."""
    if without:
        logits = logits.scatter(1, torch.stack(tuple(without), 1), -math.inf)
    if logits.device.type != "cpu":
        if check:
            _check_finite(logits.amax(1))
        return logits.argmax(1)
    # On a CPU argmax over the class axis costs ten times this running maximum, and attacks ask at every step.
    largest = logits[:, 0].clone()
    winner = torch.zeros_like(largest, dtype=torch.int16)
    leads = torch.empty_like(winner)
    for class_ in range(1, logits.shape[1]):
        torch.gt(logits[:, class_], largest, out=leads)
        torch.maximum(winner, leads.mul_(class_), out=winner)
        torch.maximum(largest, logits[:, class_], out=largest)
    if check:
        _check_finite(largest)
    return winner.long()


def few(correct: Counted, valid: Counted, share: float) -> Counted:
    """Tell whether at most that share of the valid pixels is right, in integers: billionths of the pixels."""
    return correct * BILLION <= round(BILLION * share) * valid


def _check_finite(largest: Float[Tensor, "b h w"]) -> None:
    """Refuse a NaN: among the logits of a pixel it is the maximum too, so one look at the maxima finds it."""
    if not torch.isfinite(largest).all():
        raise BadImage("the model gives logits that are NaN or infinite")
