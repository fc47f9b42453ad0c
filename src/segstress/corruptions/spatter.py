"""Spatter on the lens: water that glitters, or mud."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8
from scipy import ndimage
from torch import Tensor

from ..core import settings
from .corruption import Corruption, Images, Level, corruptions
from .draws import Draws
from .filters import gaussian_blur

WATER, MUD = (175, 238, 238), (63, 42, 20)  # 8-bit colours
EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], dtype=np.float32)
Grey = UInt8[np.ndarray, "h w"]


@corruptions.register("spatter")
@settings
class Spatter(Corruption):
    """Drops of water, from severity 4 on of mud (arXiv:1903.12261)."""

    levels: ClassVar[tuple[Level, ...]] = (  # mean and deviation of the noise, its blur, threshold, strength, mud
        (0.65, 0.3, 4.0, 0.69, 0.6, 0),
        (0.65, 0.3, 3.0, 0.68, 0.6, 0),
        (0.65, 0.3, 2.0, 0.68, 0.5, 0),
        (0.65, 0.3, 1.0, 0.65, 1.5, 1),
        (0.67, 0.4, 1.0, 0.65, 1.5, 1),
    )
    lengths: ClassVar[tuple[int, ...]] = (2,)

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Lay the liquid over the images."""
        mean, deviation, blur, threshold, strength, mud = level
        noise = gaussian_blur(mean + deviation * draws.normal(*images.shape[-2:]), blur)
        liquid = torch.where(noise < threshold, 0, noise)
        if mud:
            cover = gaussian_blur((liquid > threshold).float(), strength)
            cover = torch.where(cover < 0.8, 0, cover)[:, None].to(images)
            return images * (1 - cover) + cover * _colour(images, MUD)
        glitter = torch.stack([_glitter(one) for one in liquid]).to(images)
        return images + strength * glitter[:, None] * _colour(images, WATER)


def _colour(images: Images, colour: tuple[int, int, int]) -> Float[Tensor, "3 1 1"]:
    return images.new_tensor(colour)[:, None, None] / 255


def _glitter(liquid: Float[Tensor, "h w"]) -> Float[Tensor, "h w"]:
    """Tell how bright the water is: an embossed map of the distance to its edges, where there is water."""
    depth = (liquid.clamp(max=1) * 255).byte().cpu().numpy()
    borders = edges(depth, 50, 150)
    distance = ndimage.distance_transform_edt(~borders) if borders.any() else np.full(depth.shape, 20.0)
    smooth = ndimage.uniform_filter(np.minimum(distance, 20), 3, mode="mirror").astype(np.uint8)
    embossed = ndimage.correlate(equalise(smooth).astype(np.float32), EMBOSS, mode="mirror").clip(0, 255)
    soft = ndimage.uniform_filter(embossed, 3, mode="mirror")
    bright = depth * soft
    return torch.from_numpy(bright / max(float(bright.max()), 1e-6)).to(liquid)


def equalise(levels: Grey) -> Grey:
    """Spread grey levels so that their histogram is flat."""
    totals = np.bincount(levels.ravel(), minlength=256).cumsum()
    first = totals[levels.min()]
    if first == levels.size:
        return levels
    spread: np.ndarray = np.round((totals - first) * 255.0 / (levels.size - first)).clip(0, 255)
    equal: Grey = spread.astype(np.uint8)[levels]
    return equal


def edges(levels: Grey, low: float, high: float) -> Bool[np.ndarray, "h w"]:
    """Find Canny edges: ridges of the gradient above `low` that hang together with one above `high`."""
    plane = levels.astype(np.int32)
    down, right = (ndimage.sobel(plane, axis, mode="nearest") for axis in (0, 1))
    length = np.abs(down) + np.abs(right)
    weak = _ridges(length, down, right) & (length > low)
    pieces, _ = ndimage.label(weak, np.ones((3, 3)))
    strong = np.unique(pieces[weak & (length > high)])
    return np.isin(pieces, strong[strong > 0])


def _ridges(length: np.ndarray, down: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Tell where the gradient is longer than at both neighbours along it, in four directions."""
    wide = np.pad(length, 1)

    def beside(rows: int, columns: int) -> np.ndarray:
        return wide[1 + rows : 1 + rows + length.shape[0], 1 + columns : 1 + columns + length.shape[1]]

    steep, flat = np.abs(down), np.abs(right)
    level = steep < np.tan(np.pi / 8) * flat
    upright = steep > np.tan(3 * np.pi / 8) * flat
    falling = (down ^ right) >= 0  # both components have the same sign
    along = (length > beside(0, -1)) & (length >= beside(0, 1))
    upward = (length > beside(-1, 0)) & (length >= beside(1, 0))
    down_right = (length > beside(-1, -1)) & (length > beside(1, 1))
    down_left = (length > beside(-1, 1)) & (length > beside(1, -1))
    return np.where(level, along, np.where(upright, upward, np.where(falling, down_right, down_left)))
