"""Glass blur: pixels that trade places with their neighbours, one after the other."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Int64
from torch import Tensor

from ..core import settings
from .corruption import Corruption, Images, Level, corruptions
from .draws import Draws
from .filters import gaussian_blur


@corruptions.register("glass_blur")
@settings
class GlassBlur(Corruption):
    """Frosted glass (arXiv:1903.12261); as in its published code a pixel copies a neighbour, which keeps its own."""

    levels: ClassVar[tuple[Level, ...]] = ((0.7, 1, 2), (0.9, 2, 1), (1.0, 2, 3), (1.1, 3, 2), (1.5, 4, 2))
    lengths: ClassVar[tuple[int, ...]] = (0, 1)  # sigma and reach; the third parameter counts the passes

    def degrade(self, images: Images, level: Level, draws: Draws) -> Images:
        """Blur, round down to 8 bits, shuffle, blur again."""
        sigma, reach, passes = level[0], int(level[1]), int(level[2])
        height, width = images.shape[-2:]
        blurred = gaussian_blur(images, sigma).mul(255).add(1e-3).floor() / 255  # the thousandth: rounding is no level
        source = torch.arange(len(images) * height * width, device=images.device)
        for _ in range(passes):
            source = source.index_select(0, one_pass(draws.integers(-reach, reach, 2, height, width), reach))
        pixels = blurred.transpose(0, 1).reshape(3, -1).index_select(1, source)
        shuffled = pixels.view(3, len(images), height, width).transpose(0, 1)
        return gaussian_blur(shuffled, sigma)


def one_pass(offsets: Int64[Tensor, "b 2 h w"], reach: int) -> Int64[Tensor, " pixels"]:
    """Tell where each pixel of the batch has its value from, after one pass from the last pixel to the first.

    A pixel copies the pixel (down, right) of it. Where that one was visited before, it holds a copy itself: such
    chains are followed by pointer doubling, so the result is that of the sequential loop.
    """
    batch, _, height, width = offsets.shape
    sources = torch.arange(batch * height * width, device=offsets.device).view(batch, height, width)
    inner = torch.zeros((height, width), dtype=torch.bool, device=offsets.device)
    inner[reach + 1 : height - reach + 1, reach + 1 : width - reach + 1] = True
    target = (sources + (offsets[:, 0] * width + offsets[:, 1]) * inner).flatten()
    sources = sources.flatten()
    visited = inner.flatten().repeat(batch).index_select(0, target) & (target > sources)
    jump = torch.where(visited, target, sources)
    while not torch.equal(further := jump.index_select(0, jump), jump):  # on a CPU four times as fast as jump[jump]
        jump = further
    return target.index_select(0, jump)
