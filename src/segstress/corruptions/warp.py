"""Warping: pixels move, labels do not."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from ..core import settings
from .corruption import Corruption, Images, Level, corruptions
from .draws import Draws
from .filters import gaussian_blur, gaussian_weights


@corruptions.register("elastic_transform")
@settings
class ElasticTransform(Corruption):
    """A rubber sheet, its waves a hundredth of the image wide (arXiv:1907.07484); labels stay where they are."""

    levels: ClassVar[tuple[Level, ...]] = (
        (12.5,),
        (16.25,),
        (21.25,),
        (25.0,),
        (30.0,),
    )  # stretch of the blurred field

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Take every pixel from a place nearby."""
        height, width = images.shape[-2:]
        most = 0.005 * height * level[0]
        right, down = (wavy_field(draws, height, width, most).to(images) for _ in range(2))
        rows, columns = (torch.arange(side, device=images.device, dtype=images.dtype) for side in (height, width))
        across = (2 * (columns + right) + 1) / width - 1
        along = (2 * (rows[:, None] + down) + 1) / height - 1
        points = torch.stack([across, along], -1)
        return functional.grid_sample(images, points, padding_mode="reflection", align_corners=False)


def wavy_field(draws: Draws, height: int, width: int, most: float) -> Float[Tensor, "b {height} {width}"]:
    """Return uniform noise in [-most, most] blurred with a hundredth of each side.

    A wide blur leaves nothing finer than half its sigma, so it is drawn on a grid of that pitch and enlarged; the
    lengths of the two kernels give the factor that keeps the standard deviation.
    """
    sigmas = (0.01 * height, 0.01 * width)
    pitches = [max(1, int(sigma / 2)) for sigma in sigmas]
    sides = [-(-side // pitch) for side, pitch in zip((height, width), pitches, strict=True)]
    coarse = (sigmas[0] / pitches[0], sigmas[1] / pitches[1])
    field = gaussian_blur(draws.uniform(*sides, low=-most, high=most), coarse, "symmetric", truncate=3)
    for fine, rough in zip(sigmas, coarse, strict=True):
        field = field * float(gaussian_weights(fine, 3).norm() / gaussian_weights(rough, 3).norm())
    if pitches != [1, 1]:
        field = functional.interpolate(field[:, None], scale_factor=tuple(map(float, pitches)), mode="bicubic")[:, 0]
    return field[:, :height, :width]
