"""Snow and fog."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..core import settings
from .corruption import Corruption, Images, Level, Map, corruptions
from .draws import Draws
from .filters import enlarge, motion_blur

LUMA = (0.299, 0.587, 0.114)  # weights of red, green and blue in grey


def grey(images: Images) -> Map:
    """Return brightness as the eye weighs it."""
    return torch.einsum("bchw,c->bhw", images, images.new_tensor(LUMA))


@corruptions.register("snow")
@settings
class Snow(Corruption):
    """Falling flakes over a whitened scene (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = (  # mean and deviation of the noise, enlargement, threshold, motion, mix
        (0.1, 0.3, 3.0, 0.5, 10, 4.0, 0.8),
        (0.2, 0.3, 2.0, 0.5, 12, 4.0, 0.7),
        (0.55, 0.3, 4.0, 0.9, 12, 8.0, 0.7),
        (0.55, 0.3, 4.5, 0.85, 12, 8.0, 0.65),
        (0.55, 0.3, 2.5, 0.85, 12, 12.0, 0.55),
    )
    lengths: ClassVar[tuple[int, ...]] = (2, 4, 5)

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Whiten, then add the flakes and the same flakes turned by half a circle."""
        mix = level[6]
        flakes = self._flakes(level, images.shape[-2], images.shape[-1], draws).to(images)
        white = torch.maximum(images, 1.5 * grey(images)[:, None] + 0.5)
        return torch.lerp(white, images, mix) + (flakes + flakes.flip(-2, -1))[:, None]

    def _flakes(self, level: Level, height: int, width: int, draws: Draws) -> Map:
        mean, deviation, zoom, threshold, radius, sigma, _ = level
        zoom = max(zoom, 1.0)
        noise = mean + deviation * draws.normal(1, math.ceil(height / zoom), math.ceil(width / zoom))
        large = enlarge(noise, zoom)[:, 0]
        thick = torch.where(large < threshold, 0, large).clamp(0, 1)
        angles = draws.uniform(low=-135, high=-45).tolist()
        fallen = [motion_blur(one, int(radius), sigma, angle) for one, angle in zip(thick, angles, strict=True)]
        return torch.stack(fallen)[:, :height, :width].mul(255).round() / 255


@corruptions.register("fog")
@settings
class Fog(Corruption):
    """A bank of fog, thicker here and thinner there (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((1.5, 2.0), (2.0, 2.0), (2.5, 1.7), (2.5, 1.5), (3.0, 1.4))  # amount, decay

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Add the fog, then dim so that the brightest pixel stays as bright."""
        amount, decay = level
        height, width = images.shape[-2:]
        bank = plasma(draws, 1 << (max(height, width, 2) - 1).bit_length(), decay)[:, None, :height, :width].to(images)
        brightest = images.amax((1, 2, 3), keepdim=True)
        return (images + amount * bank) * (brightest / (brightest + amount))


def plasma(draws: Draws, side: int, decay: float) -> Float[Tensor, "b {side} {side}"]:
    """Draw a cloud in [0, 1] by the diamond-square method on a torus: each finer level trembles `decay` times less."""
    cloud = torch.zeros(len(draws.streams), 1, 1, device=draws.device)  # one corner, of height 0
    tremble = 100.0
    while cloud.shape[-1] < side:
        # The deviation is the square of the amplitude, as in the published code.
        noise = draws.uniform(3, *cloud.shape[1:], low=-(tremble**2), high=tremble**2)
        pairs = cloud + cloud.roll(-1, -2)
        centres = (pairs + pairs.roll(-1, -1)) / 4 + noise[:, 0]
        beside = (cloud + cloud.roll(-1, -1) + centres + centres.roll(1, -2)) / 4 + noise[:, 1]
        below = (pairs + centres + centres.roll(1, -1)) / 4 + noise[:, 2]
        upper, lower = torch.stack([cloud, beside], -1).flatten(-2), torch.stack([below, centres], -1).flatten(-2)
        cloud = torch.stack([upper, lower], -2).flatten(1, 2)
        tremble /= decay
    lowest, highest = cloud.amin((1, 2), keepdim=True), cloud.amax((1, 2), keepdim=True)
    return (cloud - lowest) / (highest - lowest)
