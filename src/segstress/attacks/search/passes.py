"""One forward and backward pass over some images of a batch, and what it showed of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from ...core import BadInput
from ...metrics.counts import count
from ...metrics.scores import image_miou
from ..losses import Loss, View, losses


class Seen(NamedTuple):
    """What one pass showed of the images in it."""

    gradient: Float[Tensor, "n c h w"] | Float[Tensor, "n 0"]  # of the summed loss; empty after a forward pass alone
    loss: Float[Tensor, " n"]
    track: Float[Tensor, " n"]


class Tally(NamedTuple):
    """What its predictions were worth to the attacker."""

    remaining: Float[Tensor, " n"]  # pixels still to be won
    miou: Float[Tensor, " n"]


def read(
    view: View, images: Float[Tensor, "n c h w"], loss: str | Loss | None, track: str | Loss | None = None
) -> Seen:
    """Sum the losses over each image's aimed pixels, and go back to the images where they ask for it.

    A loss by name is one of the labels, turned round where they are the goal; a callable is what the attack raises."""
    value = _total(loss, view)
    slope = torch.autograd.grad(value.sum(), images)[0] if images.requires_grad else images.new_zeros(len(images), 0)
    with torch.no_grad():
        second = value.detach() if track == loss else _total(track, view)
    return Seen(slope, value.detach(), second)


@torch.no_grad()
def tally(view: View, *, miou: bool) -> Tally:
    """Count what still stands, and the overlap where it is wanted."""
    remaining = view.remaining.flatten(1).sum(1).double()
    if not miou:
        return Tally(remaining, torch.zeros_like(remaining))
    return Tally(remaining, image_miou(count(view.prediction, view.labels, view.aim, view.logits.shape[1])))


def _total(loss: str | Loss | None, view: View) -> Float[Tensor, " n"]:
    if loss is None:
        return view.logits.new_zeros(len(view.logits))
    values = loss(view) if callable(loss) else (-1 if view.targeted else 1) * losses.get(loss)(view)
    return values if values.dim() == 1 else torch.where(view.aim, values, 0).flatten(1).sum(1)


Shown = TypeVar("Shown", Seen, Tally)


def mean(draws: Sequence[Shown]) -> Shown:
    """Average over draws of a stochastic model (EOT, Athalye et al. 2018, arXiv:1707.07397)."""
    if len(draws) == 1:
        return draws[0]
    return type(draws[0])(*(torch.stack(values).mean(0) for values in zip(*draws, strict=True)))


def select(tensor: Tensor, indices: list[int]) -> Tensor:
    """Take those images only; no copy while all are wanted."""
    return tensor if len(indices) == len(tensor) else tensor[indices]


def spread(part: Tensor, indices: list[int], whole: int, fill: float | bool = 0.0) -> Tensor:
    """Put a part back where it belongs in the whole batch; no copy while all are there."""
    if len(indices) == whole:
        return part
    full = part.new_full((whole, *part.shape[1:]), fill)
    full[indices] = part
    return full


def balance(
    labels: Int64[Tensor, "b h w"], aim: Bool[Tensor, "b h w"], weights: tuple[float, ...]
) -> Float[Tensor, "b h w"]:
    """Weigh each pixel by its class: as given, or by one over the class's pixels in the image."""
    if not weights:
        pixels = labels.new_zeros(len(labels), int(labels.max()) + 1)
        pixels.scatter_add_(1, labels.flatten(1), aim.flatten(1).long())
        return (1 / pixels.clamp(min=1)).gather(1, labels.flatten(1)).view(labels.shape)
    if int(labels.max()) >= len(weights):
        raise BadInput(f"weights: expected one for each class, found {len(weights)} and a label {int(labels.max())}")
    return torch.tensor(weights, device=labels.device)[labels]
