"""The losses of the region-aware multi-attack: as it was released, and of the aimed pixels alone."""

from __future__ import annotations

from jaxtyping import Bool, Int64
from torch import Tensor
from torch.nn import functional

from .view import Pixels, View, losses


@losses.register("two-term")
def two_term(view: View) -> Pixels:
    """Return cross-entropy, half its weight on remaining, half on fallen pixels (released code of arXiv:2504.01632).

    As released, each half is divided by the number of such pixels in the whole image, aimed at or not: pixels that
    earlier attacks have fooled and this one gives back make what still stands weigh less.
    """
    right = (view.prediction == view.labels) != view.targeted
    counted = view.aim if view.valid is None else view.valid
    sound = view.aim if view.sound is None else view.sound
    return _halves(view, counted & right, sound & ~right)


@losses.register("two-term-aimed")
def two_term_aimed(view: View) -> Pixels:
    """Return the two terms of arXiv:2504.01632, each divided by its number of aimed pixels."""
    return _halves(view, view.remaining, view.aim & ~view.remaining)


def _halves(view: View, remaining: Bool[Tensor, "b h w"], fallen: Bool[Tensor, "b h w"]) -> Pixels:
    values = functional.cross_entropy(view.logits, view.labels, reduction="none")
    return values * (remaining / _number(remaining) + fallen / _number(fallen)) / 2


def _number(pixels: Tensor) -> Int64[Tensor, "b 1 1"]:
    return pixels.flatten(1).sum(1).clamp(min=1)[:, None, None]
