"""Proximal steps: the point near a delta that trades distance, in a metric, against the length of the delta.

Each solves argmin over p of sum h (p - delta)^2 / 2 + strength * norm(p), image by image, h > 0 weighing elements.
The number of passes over the elements is fixed, so that the host never waits for a value.
"""

from __future__ import annotations

import torch

from ..search.feasible import Deltas, Feasible, PerImage, per_image

PASSES = 72  # exact in float64 from any start
WARM_PASSES = 8  # enough from the radius of the step before, which is rarely far
PLAIN_PASSES = 24  # enough from zero where no box makes the derivative jump
INNER, RESTS = 5, 0.01  # steps towards a proximal point, and the relative change at which an image rests


def prox(
    allowed: Feasible, delta: Deltas, metric: Deltas, strength: PerImage, *, near: PerImage, passes: int = WARM_PASSES
) -> Deltas:
    """Take the proximal step of the attack's norm, inside box and region; its length is sought from `near` on."""
    match allowed.norm:
        case "linf":
            return prox_linf(delta, metric, strength, allowed.lower, allowed.upper, near=near, passes=passes)
        case "l2":
            return prox_l2(delta, metric, strength, passes=passes).clamp(allowed.lower, allowed.upper)
        case "l1":
            return prox_l1(delta, metric, strength, allowed.lower, allowed.upper)
        case "l0":  # of the share of pixels: at the price of one each, none would move for hundreds of steps
            return prox_l0(delta, metric, strength / delta[0, 0].numel(), allowed.lower, allowed.upper)


def inner_prox(allowed: Feasible, delta: Deltas, metric: Deltas, strength: PerImage) -> Deltas:
    """Take a few steps towards the proximal point in a metric, each a plain one (Proximal Adam, arXiv:1910.10094).

    As PDPGD's released code has it: at most five, and an image whose point hardly moves any more rests."""
    largest = metric.flatten(1).amax(1)
    share, plain = metric / per_image(largest), strength / largest
    start = delta.clamp(allowed.lower, allowed.upper)
    point, moving = start, torch.ones_like(strength, dtype=torch.bool)
    for _ in range(INNER):
        nearer = _plain_prox(allowed, point - share * (point - start), plain).clamp(allowed.lower, allowed.upper)
        change = (nearer - point).flatten(1).norm(dim=1) / nearer.flatten(1).norm(dim=1)
        point, moving = torch.where(per_image(moving), nearer, point), moving & (change > RESTS)
    return point


def _plain_prox(allowed: Feasible, delta: Deltas, strength: PerImage) -> Deltas:
    """Take the proximal step of the norm where every element weighs one and there is no box."""
    match allowed.norm:
        case "linf":
            anywhere = torch.full_like(delta, torch.inf)
            return prox_linf(delta, torch.ones_like(delta), strength, -anywhere, anywhere, passes=PLAIN_PASSES)
        case "l2":
            length = delta.flatten(1).norm(dim=1).clamp(min=torch.finfo(delta.dtype).tiny)
            return delta * per_image((1 - strength / length).clamp(min=0))
        case "l1":
            return delta.sign() * (delta.abs() - per_image(strength)).clamp(min=0)
        case "l0":  # a pixel for as much as its largest channel is worth
            return delta * (delta.abs().amax(1, keepdim=True) >= per_image((2 * strength).sqrt()))


def prox_linf(
    delta: Deltas,
    metric: Deltas,
    strength: PerImage,
    lower: Deltas,
    upper: Deltas,
    *,
    near: PerImage | None = None,
    passes: int = PASSES,
) -> Deltas:
    """Solve exactly with the box (Rony et al. 2023, arXiv:2206.07179, proposition 1): clip at a derivative's root.

    For a length r the best point is the boxed delta, clipped; the derivative in r is strength minus the sum of
    h (|delta| - r) over the elements whose boxed length is above r. Newton's steps find its root within few passes;
    every third pass halves the bracket, because the box makes the derivative jump."""
    boxed = delta.clamp(lower, upper)
    length, h = boxed.abs().flatten(1), metric.flatten(1)
    pull_of = h * delta.abs().flatten(1)
    low, high, above = torch.zeros_like(strength), length.amax(1), torch.empty_like(h)
    radius = low if near is None else near.minimum(high)
    for number in range(passes):
        torch.gt(length, radius[:, None], out=above)
        weight, pull = torch.linalg.vecdot(above, h), torch.linalg.vecdot(above, pull_of)
        rising = strength >= pull - weight * radius
        low, high = torch.where(rising, low, radius), torch.where(rising, radius, high)
        newton = (pull - strength) / weight.clamp(min=torch.finfo(h.dtype).tiny)
        useful = (newton >= low) & (newton <= high) & ((passes - number) % 3 > 0)
        radius = torch.where(useful, newton, (low + high) / 2)
    limit = per_image(radius)
    return boxed.clamp(-limit, limit)


def prox_l2(delta: Deltas, metric: Deltas, strength: PerImage, *, passes: int = PASSES) -> Deltas:
    """Solve exactly, without a box: p = h delta / (h + strength / r), where r is the length of p, found by halving."""
    low, high = torch.zeros_like(strength), delta.flatten(1).norm(dim=1)
    pull, t = metric * delta, per_image(strength)
    for _ in range(passes):
        middle = (low + high) / 2
        longer = torch.addcmul(t, metric, per_image(middle)).reciprocal_().mul_(pull).flatten(1).norm(dim=1) > 1
        low, high = torch.where(longer, middle, low), torch.where(longer, high, middle)
    radius = per_image(high)
    return pull * radius / (metric * radius + t).clamp(min=torch.finfo(delta.dtype).tiny)


def prox_l1(delta: Deltas, metric: Deltas, strength: PerImage, lower: Deltas, upper: Deltas) -> Deltas:
    """Solve exactly with the box, by element: shrink by strength / h, then clip, because the cost is convex."""
    shrunk = (delta.abs() - per_image(strength) / metric).clamp(min=0)
    return (delta.sign() * shrunk).clamp(lower, upper)


def prox_l0(delta: Deltas, metric: Deltas, strength: PerImage, lower: Deltas, upper: Deltas) -> Deltas:
    """Solve exactly with the box, by pixel: the boxed delta where it gains more than a pixel's price, else zero."""
    boxed = delta.clamp(lower, upper)
    gain = (metric * (delta.square() - (boxed - delta).square())).sum(1, keepdim=True) / 2
    return boxed * (gain > per_image(strength))
