"""What several corruptions share: borders, Gaussian and motion blur, enlarging."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

Planes = Float[Tensor, "*batch h w"]
Border = Literal["edge", "mirror", "symmetric"]  # aaa|abc, cb|abc (the edge once), ba|abc (the edge twice)


def extend(planes: Planes, margin: int, dim: int, border: Border) -> Tensor:
    """Extend by pixels beyond both ends of one axis; the margin may be wider than the image."""
    size = planes.shape[dim]
    indices = torch.arange(-margin, size + margin, device=planes.device)
    if border == "edge":
        indices = indices.clamp(0, size - 1)
    elif border == "mirror":
        period = max(2 * (size - 1), 1)
        indices = torch.minimum(indices % period, -indices % period)
    else:
        indices = torch.minimum(indices % (2 * size), (-1 - indices) % (2 * size))
    return planes.index_select(dim, indices)


def gaussian_weights(sigma: float, truncate: float = 4.0) -> Float[Tensor, " taps"]:
    """Return a sampled Gaussian that sums to one, cut after `truncate` sigmas."""
    reach = int(truncate * sigma + 0.5)
    weights = torch.exp(-0.5 * (torch.arange(-reach, reach + 1, dtype=torch.float64) / max(sigma, 1e-9)).square())
    return weights / weights.sum()


def gaussian_blur(
    planes: Planes, sigma: float | tuple[float, float], border: Border = "edge", truncate: float = 4.0
) -> Planes:
    """Blur along rows and columns; a pair is sigma down the columns and along the rows."""
    for dim, width in zip((-2, -1), sigma if isinstance(sigma, tuple) else (sigma, sigma), strict=True):
        weights = gaussian_weights(width, truncate).tolist()
        reach, size = len(weights) // 2, planes.shape[dim]
        wide = extend(planes, reach, dim, border)
        # A sum of shifted slices: on a CPU three times as fast as a convolution with one channel.
        planes = weights[reach] * wide.narrow(dim, reach, size)
        for step in range(1, reach + 1):
            pair = wide.narrow(dim, reach - step, size) + wide.narrow(dim, reach + step, size)
            planes.add_(pair, alpha=weights[reach + step])
    return planes


def motion_blur(planes: Planes, radius: int, sigma: float, degrees: float) -> Planes:
    """Average copies that move away in one direction, half a Gaussian for weights; borders are replicated."""
    angle, taps = math.radians(degrees), range(2 * radius + 1)
    weights = [math.exp(-0.5 * (tap / sigma) ** 2) for tap in taps]
    shifts: dict[tuple[int, int], float] = {}
    for tap, weight in zip(taps, weights, strict=True):
        shift = (math.ceil(tap * math.sin(angle) - 0.5), math.ceil(tap * math.cos(angle) - 0.5))
        shifts[shift] = shifts.get(shift, 0.0) + weight / sum(weights)
    return add_shifted(planes, shifts.items())


def add_shifted(planes: Planes, shifts: Iterable[tuple[tuple[int, int], float]]) -> Planes:
    """Sum weighted copies in which each pixel is taken from (rows, columns) further on."""
    shifts = list(shifts)
    height, width = planes.shape[-2:]
    margin = max(abs(step) for shift, _ in shifts for step in shift)
    wide = extend(extend(planes, margin, -2, "edge"), margin, -1, "edge")
    total = torch.zeros_like(planes)
    for (down, right), weight in shifts:
        part = wide[..., margin + down : margin + down + height, margin + right : margin + right + width]
        total.add_(part, alpha=weight)
    return total


def enlarge(planes: Float[Tensor, "b c h w"], factor: float) -> Float[Tensor, "b c new_h new_w"]:
    """Enlarge linearly, with corners on corners."""
    sides = [round(side * factor) for side in planes.shape[-2:]]
    return functional.interpolate(planes, sides, mode="bilinear", align_corners=True)


def centre(planes: Planes, height: int, width: int) -> Tensor:
    """Return the middle of the planes."""
    top, left = (planes.shape[-2] - height) // 2, (planes.shape[-1] - width) // 2
    return planes[..., top : top + height, left : left + width]
