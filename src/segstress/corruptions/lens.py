"""Something sits on the lens: dirt or drops of rain."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from ..core import settings
from .corruption import Images, Level, LocalEffect, Map, corruptions
from .draws import Draws
from .filters import gaussian_blur
from .frost import power_noise

DIRT = (0.24, 0.2, 0.16)  # what dirt scatters into the lens


@corruptions.register("lens_dirt")
@settings
class LensDirt(LocalEffect):
    """Blobs of dirt, out of focus since they sit on the lens."""

    levels: ClassVar[tuple[Level, ...]] = ((0.3,), (0.5,), (0.65,), (0.8,), (0.95,))  # opacity

    def layer(self, images: Images, level: Level, draws: Draws) -> tuple[Images, Map]:
        """Lay brown where slow noise is high: a sixth of the image before the edges are blurred."""
        height, width = images.shape[-2:]
        blobs = (power_noise(draws, height, width, slope=4) > 1).float()
        alpha = gaussian_blur(blobs, min(height, width) / 64)
        return images.new_tensor(DIRT)[:, None, None].expand_as(images), level[0] * alpha


@corruptions.register("raindrops")
@settings
class Raindrops(LocalEffect):
    """Drops on the lens, each showing the scene small and upside down; heavier rain adds drops to those there are."""

    levels: ClassVar[tuple[Level, ...]] = ((4,), (8,), (14,), (22,), (32,))  # drops

    def layer(self, images: Images, level: Level, draws: Draws) -> tuple[Images, Map]:
        """Return a blurred scene seen through the nearest drop, dark at its rim."""
        height, width = images.shape[-2:]
        size, most = min(height, width), self.levels[-1][0]
        grown = level[0] - torch.arange(math.ceil(level[0]), device=images.device)  # below 1: the last drop, growing
        drops = draws.uniform(int(most), 3)[:, : len(grown)]
        centres = drops[..., :2] * torch.tensor([height, width], device=images.device)
        radii = size * (0.02 + 0.06 * drops[..., 2]) * grown.clamp(max=1)
        offsets, reach = _nearest(centres, radii, height, width)
        turned = -0.8 * offsets  # a drop shows most of the scene, turned by half a circle
        scene = gaussian_blur(images, size / 128)
        seen = functional.grid_sample(scene, turned.flip(-1).to(images), padding_mode="reflection", align_corners=False)
        rim = (1 - 0.6 * reach.clamp(max=1).pow(6)).to(images)
        return seen * rim[:, None], ((1 - reach) * 8).clamp(0, 1)


def _nearest(
    centres: Float[Tensor, "b n 2"], radii: Float[Tensor, "b n"], height: int, width: int
) -> tuple[Float[Tensor, "b h w 2"], Map]:
    """Return each pixel's offset from the centre of its nearest drop, in radii, and how far out that is."""
    rows, columns = (torch.arange(side, device=centres.device) + 0.5 for side in (height, width))
    best = torch.full((len(centres), height, width), torch.inf, device=centres.device)
    offsets = torch.zeros(len(centres), height, width, 2, device=centres.device)
    for centre, radius in zip(centres.unbind(1), radii.unbind(1), strict=True):
        down = ((rows - centre[:, :1]) / radius[:, None])[:, :, None].expand_as(best)
        right = ((columns - centre[:, 1:]) / radius[:, None])[:, None, :].expand_as(best)
        reach = torch.hypot(down, right)
        closer = reach < best
        best = torch.where(closer, reach, best)
        offsets = torch.where(closer[..., None], torch.stack([down, right], -1), offsets)
    return offsets.clamp(-1, 1), best
