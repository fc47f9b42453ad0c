"""Per-pixel losses that attacks climb; void never reaches them, and summing is done by the problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from jaxtyping import Bool, Float, Int64
from pydantic import AfterValidator
from torch import Tensor
from torch.nn import functional

from ..core import Registry

Pixels = Float[Tensor, "b h w"]


@dataclass(frozen=True)
class View:
    """What a loss sees of one forward pass."""

    logits: Float[Tensor, "b k h w"]
    labels: Int64[Tensor, "b h w"]  # the truth, or the goal of a targeted attack
    standing: Bool[Tensor, "b h w"]  # pixels still to be won: right, or not yet at the goal
    progress: float  # 0 at the first step, towards 1 at the last
    targeted: bool


Loss = Callable[[View], Pixels]
losses: Registry[Loss] = Registry("loss")


def _known(name: str) -> str:
    losses.get(name)  # raises where the name is unknown
    return name


LossName = Annotated[str, AfterValidator(_known)]


@losses.register("ce")
def cross_entropy(view: View) -> Pixels:
    """Cross-entropy of every pixel."""
    return functional.cross_entropy(view.logits, view.labels, reduction="none")


@losses.register("masked-ce")
def masked_cross_entropy(view: View) -> Pixels:
    """Cross-entropy of the pixels still standing only (Croce et al. 2024, arXiv:2306.12941)."""
    return view.standing * cross_entropy(view)


@losses.register("segpgd")
def balanced_cross_entropy(view: View) -> Pixels:
    """Cross-entropy, its weight moving from standing to all pixels (SegPGD, Gu et al. 2022, arXiv:2207.12391)."""
    share = view.progress / 2
    return (share + (1 - 2 * share) * view.standing) * cross_entropy(view)


@losses.register("cospgd")
def cosine_cross_entropy(view: View) -> Pixels:
    """Cross-entropy weighted by cos(softmax, one-hot label) (CosPGD, Agnihotri et al. 2024, arXiv:2302.02213)."""
    probability = view.logits.detach().softmax(1)
    cosine = probability.gather(1, view.labels[:, None])[:, 0] / probability.norm(dim=1)
    return (1 - cosine if view.targeted else cosine) * cross_entropy(view)
