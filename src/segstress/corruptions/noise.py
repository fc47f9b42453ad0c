"""Noise of the sensor: every pixel by itself."""

from __future__ import annotations

from typing import ClassVar

import torch

from ..core import settings
from .corruption import Corruption, Images, Level, corruptions
from .draws import Draws


@corruptions.register("gaussian_noise")
@settings
class GaussianNoise(Corruption):
    """Normal noise in every pixel and channel, as in poor light (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((0.08,), (0.12,), (0.18,), (0.26,), (0.38,))  # standard deviation

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Add it."""
        return images + level[0] * draws.normal(*images.shape[1:])


@corruptions.register("shot_noise")
@settings
class ShotNoise(Corruption):
    """Noise of counting few photons (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((60.0,), (25.0,), (12.0,), (5.0,), (3.0,))  # photons of a white pixel

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Count photons and divide by those of white."""
        return draws.poisson(images * level[0]) / level[0]


@corruptions.register("impulse_noise")
@settings
class ImpulseNoise(Corruption):
    """Salt and pepper: some samples are black or white (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((0.03,), (0.06,), (0.09,), (0.17,), (0.27,))  # share of samples hit

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Blacken where the draw is lowest, whiten where it is highest, so that heavier noise adds to milder."""
        chance, half = draws.uniform(*images.shape[1:]), level[0] / 2
        return torch.where(chance < half, 0, torch.where(chance > 1 - half, 1, images))


@corruptions.register("speckle_noise")
@settings
class SpeckleNoise(Corruption):
    """Normal noise that grows with brightness (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((0.15,), (0.2,), (0.35,), (0.45,), (0.6,))  # standard deviation on white

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Multiply by one and a bit."""
        return images * (1 + level[0] * draws.normal(*images.shape[1:]))
