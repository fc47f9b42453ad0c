"""Something stands in the way."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch

from ..core import settings
from .corruption import Images, Level, LocalEffect, Map, corruptions
from .draws import Draws
from .filters import gaussian_blur


@corruptions.register("occlusion")
@settings
class Occlusion(LocalEffect):
    """One object before the scene: a rectangle or an ellipse of a given area, anywhere in the image."""

    levels: ClassVar[tuple[Level, ...]] = ((0.01,), (0.02,), (0.05,), (0.1,), (0.2,))  # share of the image it covers
    shape: Literal["rectangle", "ellipse"] = "rectangle"
    fill: Literal["grey", "noise", "blur"] = "grey"  # one grey, noise in every pixel, or the scene out of focus

    def layer(self, images: Images, level: Level, draws: Draws) -> tuple[Images, Map]:
        """Return the filling, opaque inside the shape."""
        height, width = images.shape[-2:]
        area = level[0] * height * width / (1 if self.shape == "rectangle" else math.pi / 4)
        slender, top, left = draws.uniform(3).T[..., None, None]
        tall = (area * 2 ** (2 * slender - 1)).sqrt().clamp(max=height)  # sides in a ratio from 1:2 to 2:1
        wide = (area / tall).clamp(max=width)
        rows, columns = (torch.arange(side, device=images.device) + 0.5 for side in (height, width))
        down = (rows[:, None] - top * (height - tall)) / tall * 2 - 1  # from -1 to 1 across the object
        right = (columns - left * (width - wide)) / wide * 2 - 1
        if self.shape == "rectangle":
            inside = torch.maximum(down.abs(), right.abs()) <= 1
        else:
            inside = down.square() + right.square() <= 1
        return self._filling(images, draws), inside.float()

    def _filling(self, images: Images, draws: Draws) -> Images:
        if self.fill == "noise":
            return draws.uniform(*images.shape[1:])
        if self.fill == "blur":
            return gaussian_blur(images, min(images.shape[-2:]) / 16)
        return torch.full_like(images, 0.5)
