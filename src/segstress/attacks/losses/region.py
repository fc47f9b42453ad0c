"""Losses that weigh a pixel by what the attack has done to it so far."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from .likelihood import cross_entropy
from .view import Pixels, View, losses

REST = 1 / 600  # weight of the pixels that need no attack: the published 1 / 2T for 300 steps


@losses.register("region")
def region(view: View) -> Pixels:
    """Return the cross-entropy, half its weight moving from pixels never won to those won once (RP-PGD, AAAI 2025)."""
    return region_weights(view, view.aim.to(view.logits)) * cross_entropy(view)


@losses.register("region-balanced")
def balanced_region(view: View) -> Pixels:
    """Return the same with rare classes weighing more: an attack on mIoU (RP-PGD, weights of arXiv:2306.12941)."""
    return region_weights(view, view.balance) * cross_entropy(view)


def region_weights(view: View, weight: Pixels) -> Pixels:
    """Weigh pixels so that a region's sum is its own: at first all for what never fell, at last half for what did."""
    first, once = view.past
    half = view.progress / 2
    shares = (1 - half, half, REST)
    regions = (inside * weight for inside in (view.aim & ~once, once & ~first, first))
    return _total(view.aim) * sum(
        share * region / _total(region) for share, region in zip(shares, regions, strict=True)
    )


def _total(values: Tensor) -> Float[Tensor, "b 1 1"]:
    return values.flatten(1).sum(1).clamp(min=1e-12)[:, None, None]
