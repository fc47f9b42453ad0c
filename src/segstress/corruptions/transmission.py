"""Parts of the picture that never arrive."""

from __future__ import annotations

from typing import ClassVar

import torch

from ..core import settings
from .corruption import Images, Level, LocalEffect, Map, corruptions
from .draws import Draws

GREEN = (0.0, 0.53, 0.0)  # what a decoder shows where it has no data: zero in all of Y, Cb and Cr
BLOCK = 16  # pixels, the side of a macroblock


@corruptions.register("lost_blocks")
@settings
class LostBlocks(LocalEffect):
    """Lost macroblocks of a video: runs of 16 x 16 pixels turn green, to the end of their row."""

    levels: ClassVar[tuple[Level, ...]] = ((0.01,), (0.02,), (0.05,), (0.1,), (0.2,))  # share of the blocks lost

    def layer(self, images: Images, level: Level, draws: Draws) -> tuple[Images, Map]:
        """Lay green where a run of blocks is lost; at least one is."""
        height, width = images.shape[-2:]
        rows, columns = -(-height // BLOCK), -(-width // BLOCK)
        wanted = max(1, round(level[0] * rows * columns))
        order = draws.uniform(rows).argsort(1)  # rows lose their ends one after the other
        starts = draws.integers(0, columns, rows).gather(1, order)
        lengths = columns - starts
        before = lengths.cumsum(1) - lengths
        kept = torch.minimum(lengths, (wanted - before).clamp(min=0))  # the last run is cut to the wanted number
        first = torch.zeros_like(starts).scatter(1, order, starts)[..., None]
        length = torch.zeros_like(kept).scatter(1, order, kept)[..., None]
        columns_of_image = torch.arange(columns, device=images.device)
        lost = (columns_of_image >= first) & (columns_of_image < first + length)
        alpha = lost.repeat_interleave(BLOCK, 1).repeat_interleave(BLOCK, 2)[:, :height, :width].float()
        return images.new_tensor(GREEN)[:, None, None].expand_as(images), alpha
