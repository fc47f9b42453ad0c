"""Losses of the logits themselves: their direction, and the true class's lead over its rival."""

from __future__ import annotations

import torch
from jaxtyping import Int64
from torch import Tensor

from ...metrics.counts import predict
from .view import Pixels, View, length, losses

TINY = 1e-12  # keeps a division defined where all logits are equal


@losses.register("cosine")
def cosine(view: View) -> Pixels:
    """Return one minus the cosine of logits and one-hot label at every pixel (PAdam-Cos, arXiv:2407.09150)."""
    (label,) = view.of(view.labels)
    return 1 - label / length(view.logits)


@losses.register("masked-spherical")
def masked_spherical(view: View) -> Pixels:
    """Return minus the cosine of logits and one-hot label on pixels that remain (SEA-MSL, arXiv:2306.12941v1)."""
    return view.remaining * (cosine(view) - 1)


@losses.register("cosine-global")
def global_cosine(view: View) -> Pixels:
    """Divide one cosine between all logits and all labels of an image by pixel (equation 5 of arXiv:2407.09150)."""
    pixels = view.aim.flatten(1).sum(1).clamp(min=1)[:, None, None]
    whole = length((view.logits * view.aim[:, None]).flatten(1)[..., None, None])
    (label,) = view.of(view.labels)
    return 1 / pixels - label / (whole * pixels.sqrt())


@losses.register("margin")
def margin(view: View) -> Pixels:
    """Return the best other class's lead over the label (Carlini & Wagner 2017, arXiv:1608.04644)."""
    rival, label = view.of(view.rivals, view.labels)
    return rival - label


@losses.register("margin-clipped")
def clipped_margin(view: View) -> Pixels:
    """Return the margin up to one half: a pixel that is safely won asks for no more (arXiv:1608.04644, its kappa)."""
    return margin(view).clamp(max=0.5)


@losses.register("masked-margin")
def masked_margin(view: View) -> Pixels:
    """Return the margin of the pixels that remain only (Carlini & Wagner 2017, arXiv:1608.04644)."""
    return view.remaining * margin(view)


@losses.register("dlr")
def difference_of_logits_ratio(view: View) -> Pixels:
    """Return the margin in units of the lead over the third class (Croce & Hein 2020, arXiv:2003.01690).

    Towards a goal the unit is the lead over the third and fourth, as published: the third alone may be the goal."""
    return ratio_of_logits(view)


def ratio_of_logits(view: View, tolerance: float = 0.0) -> Pixels:
    """Return that ratio, with something taken from the best other class's lead first."""
    if view.logits.shape[1] < 3:
        return margin(view) - tolerance  # two classes have no third, and their ratio would be constant
    second = _next(view.logits, view.prediction)
    third = _next(view.logits, view.prediction, second)
    behind = [third]
    if view.targeted and view.logits.shape[1] > 3:
        behind.append(_next(view.logits, view.prediction, second, third))
    rivals = torch.where(view.prediction == view.labels, second, view.prediction)
    rival, label, first, *others = view.of(rivals, view.labels, view.prediction, *behind)
    return (rival - label - tolerance) / (first - sum(others) / len(others) + TINY)


def _next(logits: Tensor, *taken: Int64[Tensor, "b h w"]) -> Int64[Tensor, "b h w"]:
    """Return the largest logit's class among those not taken."""
    return predict(logits.detach(), check=False, without=taken)
