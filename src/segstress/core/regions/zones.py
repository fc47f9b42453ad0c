"""Where to count: inside a region, outside, and in rings around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool
from scipy import ndimage
from torch import Tensor


def distance_zones(inside: Bool[Tensor, "b h w"], edges: Sequence[int] = ()) -> dict[str, Bool[Tensor, "b h w"]]:
    """Return `inside`, `outside` and, between the given distances in pixels, `distance-0-8`, `distance-8-16` ..."""
    zones = {"inside": inside, "outside": ~inside}
    if edges:
        away = torch.stack([_distance(one) for one in inside.cpu()]).to(inside.device)
        for near, far in pairwise([0, *sorted(edges), math.inf]):
            zones[f"distance-{near:g}-{far:g}"] = (away > near) & (away <= far)
    return zones


def _distance(inside: Bool[Tensor, "h w"]) -> Tensor:
    """Return the Euclidean distance to the region; infinite where there is none."""
    if not inside.any():
        return torch.full(inside.shape, math.inf)
    distances: np.ndarray = ndimage.distance_transform_edt(~inside.numpy())
    return torch.from_numpy(distances).float()
