"""What a corruption is, the register of those that can be named, and how severity chooses its strength."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..core import BadImage, BadInput, Registry, settings
from .draws import Draws

Images = Float[Tensor, "b 3 h w"]
Map = Float[Tensor, "b h w"]
Level = tuple[float, ...]  # the parameters of one severity, in the order of the publication

MILDEST, STRONGEST = 0, 5
TRACE = 2 / 255  # a layer more transparent than this is left out, so that a local effect has an outside


@dataclass(frozen=True)
class Altered:
    """Images after a corruption, and where a local effect touched them (none = everywhere)."""

    images: Images
    touched: Bool[Tensor, "b h w"] | None = None


@settings
class Corruption(ABC):
    """A way to degrade images, at five published strengths."""

    levels: ClassVar[tuple[Level, ...]]
    lengths: ClassVar[tuple[int, ...]] = ()  # places of the parameters that are lengths in pixels

    @abstractmethod
    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Return the degraded images; what leaves [0, 1] is clipped by `alter`."""

    def alter(self, images: Images, level: Level, draws: Draws) -> Altered:
        """Return the degraded images inside [0, 1]."""
        return Altered(self.degrade(images, level, draws).clamp(0, 1).to(images.dtype))

    def level(self, severity: float) -> Level:
        """Return the parameters of a whole severity."""
        return self.levels[int(severity) - 1]

    def scaled(self, level: Level, factor: float) -> Level:
        """Return the same strength for images that are `factor` times as large."""
        return tuple(
            _longer(value, factor) if position in self.lengths else value for position, value in enumerate(level)
        )


@settings
class LocalEffect(Corruption):
    """A corruption of part of the image: a layer laid over it, opaque where `alpha` is 1.

    Its parameters are such that 0 of each is nothing laid over it."""

    def level(self, severity: float) -> Level:
        """Return the parameters of any severity, so that the touched part has no jump between two whole ones."""
        below, share = math.floor(severity), severity - math.floor(severity)
        least = self.levels[below - 1] if below else (0.0,) * len(self.levels[0])
        if not share:
            return least
        return tuple((1 - share) * low + share * high for low, high in zip(least, self.levels[below], strict=True))

    @abstractmethod
    def layer(self, images: Images, level: Level, draws: Draws) -> tuple[Images, Map]:
        """Return what is laid over the images, and how opaque it is."""

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Return the images under the layer."""
        return self.alter(images, level, draws).images

    def alter(self, images: Images, level: Level, draws: Draws) -> Altered:
        """Return the images under the layer, and where it can be seen."""
        layer, alpha = self.layer(images, level, draws)
        touched = alpha > TRACE
        covered = torch.lerp(images, layer.to(images), alpha.to(images)[:, None]).clamp(0, 1)
        return Altered(torch.where(touched[:, None], covered, images), touched)


corruptions: Registry[Corruption] = Registry("corruption")


def alter(
    corruption: Corruption,
    images: Images,
    severity: float,
    *,
    ids: Sequence[str],
    seed: int,
    reference_size: int | None = None,
    part: str = "",
) -> Altered:
    """Corrupt at any severity from 0 (nothing) to 5; between two whole ones, blend what both make of the same draws.

    All severities share an image's draws, so that damage grows with severity in one piece. Local effects are not
    blended: their own parameters go from one severity to the next, and with them the part that they touch."""
    if not MILDEST <= severity <= STRONGEST:
        raise BadInput(f"severity: expected a number from {MILDEST} to {STRONGEST}, found {severity:g}")
    if images.ndim != 4 or images.shape[1] != 3 or not images.is_floating_point():
        given = f"{images.dtype} {tuple(images.shape)}"
        raise BadImage(
            f"corruptions need float RGB images (b, 3, h, w) in [0, 1], found {given}; repeat a grey channel"
        )
    factor = min(images.shape[-2:]) / reference_size if reference_size else 1.0
    purpose = f"corruption/{corruptions.spec(corruption)['kind']}{part}"

    local = isinstance(corruption, LocalEffect)

    def at(strength: float) -> Altered:
        if strength == 0:
            return Altered(images, torch.zeros_like(images[:, 0], dtype=torch.bool) if local else None)
        level = corruption.scaled(corruption.level(strength), factor)
        return corruption.alter(images, level, Draws.of(ids, seed, purpose, images.device))

    if local or float(severity).is_integer():
        return at(severity)
    below, above = at(math.floor(severity)), at(math.ceil(severity))
    return Altered(torch.lerp(below.images, above.images, severity - math.floor(severity)))


def _longer(value: float, factor: float) -> float:
    """Return a length in larger images; a whole number of pixels stays whole, and at least one."""
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor
