"""What cameras and codecs do: contrast, brightness, colour, blocks, compression."""

from __future__ import annotations

import io
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int64
from PIL import Image
from torch import Tensor

from ..core import settings
from .corruption import Corruption, Images, Level, corruptions
from .draws import Draws


@corruptions.register("brightness")
@settings
class Brightness(Corruption):
    """A larger value in the HSV sense: the brightest channel is raised, the others with it (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((0.1,), (0.2,), (0.3,), (0.4,), (0.5,))  # added to the value

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Scale each pixel so that its largest channel grows by the level; black turns grey."""
        value = images.amax(1, keepdim=True)
        raised = (value + level[0]).clamp(max=1)
        return torch.where(value > 0, images * (raised / value), raised)


@corruptions.register("contrast")
@settings
class Contrast(Corruption):
    """Less contrast around the mean of each channel (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((0.4,), (0.3,), (0.2,), (0.1,), (0.05,))  # what is left of it

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Pull every pixel towards the mean."""
        means = images.mean((-2, -1), keepdim=True)
        return means + (images - means) * level[0]


@corruptions.register("saturate")
@settings
class Saturate(Corruption):
    """Paler or stronger colours in the HSV sense (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((0.3, 0.0), (0.1, 0.0), (2.0, 0.0), (5.0, 0.1), (20.0, 0.2))  # times, plus

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Change the distance of each channel to the largest; grey has hue 0 by convention, so it turns red."""
        value = images.amax(1, keepdim=True)
        chroma = value - images.amin(1, keepdim=True)
        saturation = chroma / value.clamp(min=1e-12)
        wanted = (level[0] * saturation + level[1]).clamp(0, 1)
        coloured = value - (value - images) * (wanted / saturation)
        red = torch.cat([value, value * (1 - wanted), value * (1 - wanted)], 1)
        return torch.where(chroma > 0, coloured, red)


@corruptions.register("pixelate")
@settings
class Pixelate(Corruption):
    """Fewer, larger pixels (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((0.6,), (0.5,), (0.4,), (0.3,), (0.25,))  # share of each side that is left

    def scaled(self, level: Level, factor: float) -> Level:
        """Return cells `factor` times as large, but none smaller than a pixel."""
        return (min(level[0] / factor, 1.0),)

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Return the mean of each cell, then the nearest cell of each pixel."""
        cells = [max(1, int(side * level[0])) for side in images.shape[-2:]]
        short = _cell_means(images, cells[0])
        small = _cell_means(short.transpose(-2, -1), cells[1]).transpose(-2, -1)
        height, width = images.shape[-2:]
        rows, columns = _nearest_cell(height, cells[0]), _nearest_cell(width, cells[1])
        return small[..., rows[:, None].to(images.device), columns.to(images.device)]


def _cell_means(planes: Float[Tensor, "b c h w"], cells: int) -> Float[Tensor, "b c cells w"]:
    """Return means over the rows whose centres fall into a cell; no row is shared."""
    rows = planes.shape[-2]
    starts = (2 * torch.arange(cells, device=planes.device) * rows + cells) // (2 * cells)
    owner = torch.searchsorted(starts, torch.arange(rows, device=planes.device), right=True) - 1
    sums = planes.new_zeros(*planes.shape[:2], cells, planes.shape[-1]).index_add_(2, owner, planes)
    return sums / torch.bincount(owner, minlength=cells)[:, None]


def _nearest_cell(side: int, cells: int) -> Int64[Tensor, " side"]:
    return (2 * torch.arange(side) + 1) * cells // (2 * side)


@corruptions.register("jpeg_compression")
@settings
class JpegCompression(Corruption):
    """JPEG at a low quality (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = ((25,), (18,), (15,), (10,), (7,))  # quality

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Encode and decode each image."""
        return torch.stack([_jpeg(image, int(level[0])) for image in images])


def _jpeg(image: Float[Tensor, "3 h w"], quality: int) -> Float[Tensor, "3 h w"]:
    pixels = image.mul(255).round().byte().permute(1, 2, 0).cpu().numpy()
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    decoded = torch.from_numpy(np.array(Image.open(file)))
    return decoded.permute(2, 0, 1).to(image) / 255
