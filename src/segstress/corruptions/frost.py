"""Frost: from a folder of photographs, or made here."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image, UnidentifiedImageError
from torch import Tensor
from torch.nn import functional

from ..core import BadInput, settings
from ..core.fingerprints import files_fingerprint
from .corruption import Corruption, Images, Level, Map, corruptions
from .draws import Draws

LEVELS = ((1.0, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75))  # share of the image, share of the frost
LONGEST = 512  # pixels of the longer side of a texture; as with photographs, larger images get coarser frost
TINT = (0.82, 0.93, 1.0)
SUFFIXES = (".png", ".jpg", ".jpeg")


@corruptions.register("frost")
@settings
class Frost(Corruption):
    """Frost on the lens from photographs in a folder (arXiv:1903.12261): `frost?photographs=folder`."""

    levels: ClassVar[tuple[Level, ...]] = LEVELS
    photographs: str  # folder of PNG or JPEG pictures of frost

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Add a crop of a photograph that is a tenth larger than needed."""
        paths = _photographs(self.photographs)
        height, width = images.shape[-2:]
        crops = []
        for which, top, left in draws.uniform(3).tolist():
            picture = _cover(paths[int(which * len(paths))], height, width)
            row, column = (
                int(share * (have - want)) for share, have, want in _rooms(top, left, picture, height, width)
            )
            crops.append(picture[:, row : row + height, column : column + width])
        return level[0] * images + level[1] * torch.stack(crops).to(images)

    def fingerprint(self) -> str:
        """Hash the photographs."""
        return files_fingerprint(Path(self.photographs), _photographs(self.photographs))


def _rooms(top: float, left: float, picture: Tensor, height: int, width: int) -> tuple[tuple[float, int, int], ...]:
    return (top, picture.shape[-2], height), (left, picture.shape[-1], width)


def _photographs(folder: str) -> list[Path]:
    paths = sorted(path for path in Path(folder).glob("*") if path.suffix.lower() in SUFFIXES)
    if not paths:
        raise BadInput(f"frost: no PNG or JPEG in '{folder}'; give a folder of photographs, or use frost_procedural")
    return paths


@lru_cache(maxsize=8)
def _cover(path: Path, height: int, width: int) -> Float[Tensor, "3 frost_height frost_width"]:
    """Return a photograph enlarged to cover the image, and a tenth more."""
    try:
        picture = Image.open(path).convert("RGB")
    except (UnidentifiedImageError, OSError) as error:
        raise BadInput(f"frost: {path} cannot be read as an image; remove it from the folder") from error
    factor = 1.1 * max(1, height / picture.height, width / picture.width)
    sides = (math.ceil(picture.width * factor), math.ceil(picture.height * factor))
    pixels = np.array(picture.resize(sides, Image.Resampling.BICUBIC))
    return torch.from_numpy(pixels).permute(2, 0, 1) / 255


@corruptions.register("frost_procedural")
@settings
class FrostProcedural(Corruption):
    """Frost on the lens, made here: clouds, and crystals that each grow in a direction; not comparable with `frost`."""

    levels: ClassVar[tuple[Level, ...]] = LEVELS

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Add the texture in a cold tint."""
        height, width = images.shape[-2:]
        shrink = min(1.0, LONGEST / max(height, width))
        texture = frost_texture(draws, math.ceil(height * shrink), math.ceil(width * shrink))[:, None]
        texture = functional.interpolate(texture, (height, width), mode="bilinear").to(images)
        return level[0] * images + level[1] * texture * images.new_tensor(TINT)[:, None, None]


def frost_texture(draws: Draws, height: int, width: int, crystals: int = 80) -> Map:
    """Mix half clouds, a third streaks along crystals, the rest ridges between them; mean 0.55, deviation 0.16."""
    clouds = power_noise(draws, height, width, slope=1.7)
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    points = torch.stack([rows, columns], -1).float().to(draws.device).view(1, -1, 2)
    seeds = draws.uniform(crystals, 2) * torch.tensor([height, width], device=draws.device)
    near, owner = torch.cdist(points.expand(len(seeds), -1, -1), seeds).topk(2, largest=False)
    angle = (math.pi * draws.uniform(crystals)).gather(1, owner[..., 0])
    along = points[..., 0] * angle.sin() + points[..., 1] * angle.cos()
    across = points[..., 0] * angle.cos() - points[..., 1] * angle.sin()
    grain = draws.normal(1, 64, 256)
    lookup = torch.stack([across / 128, along / 640], -1)[:, None]  # streaks ten times as long as wide
    streaks = functional.grid_sample(grain, lookup, padding_mode="reflection", align_corners=False)
    ridges = torch.exp(-(near[..., 1] - near[..., 0]) / 3)
    mixed = 0.5 * clouds.flatten(1) + 0.35 * _standard(streaks[:, 0, 0]) + 0.15 * _standard(ridges)
    return (0.55 + 0.16 * _standard(mixed)).clamp(0, 1).view(-1, height, width)


def power_noise(draws: Draws, height: int, width: int, slope: float) -> Map:
    """Return noise of mean 0 and deviation 1 whose power falls with frequency to the given slope."""
    spectrum = torch.fft.rfft2(draws.normal(height, width))
    down, right = torch.fft.fftfreq(height), torch.fft.rfftfreq(width)
    frequency = torch.hypot(down[:, None], right).to(draws.device)
    frequency[0, 0] = math.inf  # the mean is of no interest
    noise = torch.fft.irfft2(spectrum * frequency.pow(-slope / 2), s=(height, width))
    return _standard(noise.flatten(1)).view_as(noise)


def _standard(values: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return (values - values.mean(1, keepdim=True)) / values.std(1, keepdim=True, correction=0).clamp(min=1e-6)
