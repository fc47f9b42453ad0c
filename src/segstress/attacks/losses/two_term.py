"""The loss of the region-aware multi-attack as it was released."""

from __future__ import annotations

from jaxtyping import Int64
from torch import Tensor
from torch.nn import functional

from .view import Pixels, View, losses


@losses.register("two-term")
def two_term(view: View) -> Pixels:
    """Cross-entropy, half its weight on standing and half on fallen pixels (released code of arXiv:2504.01632)."""
    values = functional.cross_entropy(view.logits, view.labels, reduction="none")
    fallen = view.aim & ~view.standing
    return values * (view.standing / _number(view.standing) + fallen / _number(fallen)) / 2


def _number(pixels: Tensor) -> Int64[Tensor, "b 1 1"]:
    return pixels.flatten(1).sum(1).clamp(min=1)[:, None, None]
