"""Where a delta may lie: inside the image's box, the threat's ball and the region."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from ...core import Norm

Deltas = Float[Tensor, "b c h w"]
PerImage = Float[Tensor, " b"]


def per_image(values: Shaped[Tensor, " b"]) -> Shaped[Tensor, "b 1 1 1"]:
    """Give one value an image the shape in which it multiplies deltas."""
    return values[:, None, None, None]


class Feasible:
    """Project, measure and climb in one norm; outside the region every delta is exactly zero."""

    def __init__(self, images: Deltas, norm: Norm, region: Bool[Tensor, "b h w"] | None = None) -> None:
        self.images, self.norm = images, norm
        self.lower, self.upper = -images, 1 - images
        if region is not None:
            self.lower, self.upper = self.lower * region[:, None], self.upper * region[:, None]

    def project(self, delta: Deltas, radius: float | PerImage) -> Deltas:
        """Clip into box and region, then into the ball: both contain zero, so shrinking leaves neither."""
        delta = delta.clamp(self.lower, self.upper)
        if self.norm == "linf" and not isinstance(radius, Tensor):
            return delta.clamp_(-radius, radius)  # in a third of the time that limits image by image take
        if not isinstance(radius, Tensor):
            if math.isinf(radius):
                return delta
            radius = delta.new_full((1,), radius)
        limit = per_image(radius)
        if self.norm == "linf":
            return delta.clamp_(-limit, limit)
        if self.norm == "l0":
            return delta * _largest(delta, radius)
        if self.norm == "l1":
            return _soften(delta, radius)
        length = per_image(delta.flatten(1).norm(dim=1))
        return delta * (limit / length.clamp(min=torch.finfo(delta.dtype).tiny)).clamp(max=1)

    def size(self, delta: Deltas) -> PerImage:
        """Measure the length in the norm, image by image."""
        match self.norm:
            case "linf":
                return delta.flatten(1).abs().amax(1)
            case "l2":
                return delta.flatten(1).norm(dim=1)
            case "l1":
                return delta.flatten(1).abs().sum(1)
            case "l0":
                return (delta != 0).any(1).flatten(1).sum(1).to(delta)

    def extent(self, delta: Deltas) -> PerImage:
        """Measure what steps are scaled by: the size, but in l0, where it says nothing of how far, the l1 length."""
        return delta.flatten(1).abs().sum(1) if self.norm == "l0" else self.size(delta)

    def steepest(self, gradient: Deltas) -> Deltas:
        """Return the direction of length one along which the loss grows fastest."""
        if self.norm == "linf":
            return gradient.sign()
        length = per_image(gradient.flatten(1).norm(dim=1))
        return gradient / length.clamp(min=torch.finfo(gradient.dtype).tiny)

    def along(self, gradient: Deltas) -> Deltas:
        """Scale the gradient itself for balls of radius one: elements of linf steps are one in the mean square.

        In l2 it is a tenth of the radius long: longer steps spend length on pixels that are won already."""
        l2_length = gradient[0].numel() ** 0.5 if self.norm == "linf" else 0.1
        length = per_image(gradient.flatten(1).norm(dim=1))
        return l2_length * (gradient / length.clamp(min=torch.finfo(gradient.dtype).tiny))

    def apply(self, delta: Deltas) -> Deltas:
        """Return the perturbed images; rounding cannot carry them out of [0, 1]."""
        return (self.images + delta).clamp(0, 1)


def _largest(delta: Deltas, count: PerImage) -> Bool[Tensor, "b 1 h w"]:
    """Mark the pixels that moved farthest, as many as count says; equals count as one that does not fit."""
    moved = delta.square().sum(1)
    order = moved.flatten(1).sort(dim=1, descending=True).values
    ranks = count.floor().long().clamp(max=order.shape[1] - 1)[:, None]
    least = order.gather(1, ranks)[:, :, None]  # of those that are too many
    return ((moved > least) | (count[:, None, None] >= order.shape[1]))[:, None]


def _soften(delta: Deltas, radius: PerImage) -> Deltas:
    """Find the nearest point of the l1 ball, shrinking all alike (Duchi et al. 2008, doi:10.1145/1390156.1390191)."""
    flat = delta.flatten(1).abs()
    order = flat.sort(dim=1, descending=True).values
    count = torch.arange(1, order.shape[1] + 1, device=delta.device)
    amounts = (order.cumsum(1) - radius[:, None]) / count
    amount = per_image(amounts.amax(1).clamp(min=0))
    return delta.sign() * (delta.abs() - amount).clamp(min=0)


def norms(delta: Deltas) -> dict[str, PerImage]:
    """Measure the length in every norm that rows report, in float64: sums then do not depend on the image's size."""
    flat = delta.flatten(1).double()
    return {"linf": flat.abs().amax(1), "l2": flat.norm(dim=1), "l1": flat.abs().sum(1)}
