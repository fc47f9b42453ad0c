"""Blur of the lens and of movement."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from scipy.fft import next_fast_len
from torch import Tensor

from ..core import settings
from .corruption import Corruption, Images, Level, corruptions
from .draws import Draws
from .filters import centre, enlarge, extend, gaussian_blur, motion_blur


@corruptions.register("gaussian_blur")
@settings
class GaussianBlur(Corruption):
    """A Gaussian blur (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((1.0,), (2.0,), (3.0,), (4.0,), (6.0,))  # sigma
    lengths: ClassVar[tuple[int, ...]] = (0,)

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Blur."""
        return gaussian_blur(images, level[0])


@corruptions.register("defocus_blur")
@settings
class DefocusBlur(Corruption):
    """A lens out of focus: every point becomes a disc (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5))  # radius, soft edge
    lengths: ClassVar[tuple[int, ...]] = (0,)

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Correlate with the disc, by Fourier transform since it is large."""
        kernel = disc(int(level[0]), level[1]).to(images)
        reach = len(kernel) // 2
        wide = extend(extend(images, reach, -2, "mirror"), reach, -1, "mirror")
        sides = [next_fast_len(side, real=True) for side in wide.shape[-2:]]
        spectrum = torch.fft.rfft2(wide, s=sides) * torch.fft.rfft2(kernel, s=sides)
        full: Tensor = torch.fft.irfft2(spectrum, s=sides)
        return full[..., 2 * reach : 2 * reach + images.shape[-2], 2 * reach : 2 * reach + images.shape[-1]]


def disc(radius: int, soft: float) -> Float[Tensor, "side side"]:
    """Return a disc of weight one, its edge slightly blurred; a large one meets its border and grows brighter."""
    reach, taps = (8, 3) if radius <= 8 else (radius, 5)
    across = torch.arange(-reach, reach + 1, dtype=torch.float64)
    inside = (across[:, None].square() + across.square() <= radius**2).double()
    return gaussian_blur(inside / inside.sum(), soft, "mirror", truncate=(taps // 2) / soft)


@corruptions.register("motion_blur")
@settings
class MotionBlur(Corruption):
    """A camera that moves while the shutter is open (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((10, 3.0), (15, 5.0), (15, 8.0), (15, 12.0), (20, 15.0))  # radius, sigma
    lengths: ClassVar[tuple[int, ...]] = (0, 1)

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Blur each image along its own direction, at most 45 degrees from the horizontal."""
        angles = draws.uniform(low=-45, high=45).tolist()
        radius, sigma = int(level[0]), level[1]
        return torch.stack(
            [motion_blur(image, radius, sigma, angle) for image, angle in zip(images, angles, strict=True)]
        )


@corruptions.register("zoom_blur")
@settings
class ZoomBlur(Corruption):
    """A camera that rushes forward (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((12, 0.01), (16, 0.01), (11, 0.02), (13, 0.02), (11, 0.03))  # count, step

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Return the mean of the image, counted twice, and its enlarged middles."""
        (count, step), (height, width) = level, images.shape[-2:]
        total = 2 * images
        for number in range(1, int(count)):
            factor = 1 + step * number
            middle = centre(images, math.ceil(height / factor), math.ceil(width / factor))
            total += enlarge(middle, factor)[..., :height, :width]
        return total / (count + 1)
