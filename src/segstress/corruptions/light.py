"""Light in the wrong place: the sun in the lens, a shadow on the scene."""

from __future__ import annotations

import math
from typing import ClassVar

import torch

from ..core import settings
from .corruption import Images, Level, LocalEffect, Map, corruptions
from .draws import Draws
from .filters import gaussian_blur

SUNLIGHT = (1.0, 0.96, 0.86)
STREAKS = 6  # rays of the star around the sun
GHOSTS = (-0.5, 0.4, 0.8, 1.4)  # reflections in the lens, on the line from the sun (-1) through the centre (0)


@corruptions.register("sun_glare")
@settings
class SunGlare(LocalEffect):
    """The sun in the upper half of the image: core, halo, star and reflections in the lens."""

    levels: ClassVar[tuple[Level, ...]] = ((0.3,), (0.5,), (0.8,), (1.2,), (1.8,))  # gain

    def layer(self, images: Images, level: Level, draws: Draws) -> tuple[Images, Map]:
        """Lay sunlight over it, as opaque as it is bright."""
        height, width = images.shape[-2:]
        size = min(height, width)
        rows, columns = (torch.arange(side, device=images.device) + 0.5 for side in (height, width))
        position = draws.uniform(3)[..., None, None]
        down, right = rows[:, None] - position[:, 0] * height / 2, columns - position[:, 1] * width
        distance, angle = torch.hypot(down, right), torch.atan2(down, right)
        core = torch.exp(-(distance / (0.06 * size)).square())
        halo = 0.5 * torch.exp(-distance / (0.15 * size))
        turn = position[:, 2] * 2 * math.pi
        star = torch.cos(STREAKS / 2 * angle + turn).abs().pow(24) * torch.exp(-distance / (0.25 * size))
        light = core + halo + 0.5 * star
        for step in GHOSTS:
            ghost_row = height / 2 + step * (height / 2 - position[:, 0] * height / 2)
            ghost_column = width / 2 + step * (width / 2 - position[:, 1] * width)
            reach = torch.hypot(rows[:, None] - ghost_row, columns - ghost_column) / (0.04 * size * (1 + abs(step)))
            light = light + 0.15 * (reach < 1)
        colour = images.new_tensor(SUNLIGHT)[:, None, None].expand_as(images)
        return colour, (level[0] * light).clamp(0, 1)


@corruptions.register("shadow")
@settings
class Shadow(LocalEffect):
    """The shadow of something outside the image: a polygon with a soft edge."""

    levels: ClassVar[tuple[Level, ...]] = ((0.3,), (0.4,), (0.5,), (0.6,), (0.7,))  # share of the light that is lost
    corners: ClassVar[int] = 5

    def layer(self, images: Images, level: Level, draws: Draws) -> tuple[Images, Map]:
        """Lay darkness inside a polygon around a random point."""
        height, width = images.shape[-2:]
        size = min(height, width)
        rows, columns = (torch.arange(side, device=images.device) + 0.5 for side in (height, width))
        position, turns, reaches = draws.uniform(2), draws.uniform(self.corners), draws.uniform(self.corners)
        down = rows[:, None] - (position[:, 0] * height)[:, None, None]
        right = columns - (position[:, 1] * width)[:, None, None]
        inside = torch.ones_like(down + right)
        for side in range(self.corners):  # a convex polygon is what no side cuts away
            angle = (2 * math.pi * (side + turns[:, side]) / self.corners)[:, None, None]
            reach = (size * (0.15 + 0.25 * reaches[:, side]))[:, None, None]
            inside = inside * (down * angle.sin() + right * angle.cos() <= reach)
        return torch.zeros_like(images), level[0] * gaussian_blur(inside, 0.01 * size)
