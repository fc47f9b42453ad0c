"""Regions made of rectangles: patches of a grid, boxes in fixed, given or random places."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Bool
from pydantic import Field
from torch import Tensor

from ..batch import Batch
from ..configuration import settings
from ..quantities import Pixels, PixelsOrNone
from ..seeding import stream
from .region import regions

Rectangle = tuple[slice, slice]  # rows, columns
Position = Literal["centre", "top-left", "top-right", "bottom-left", "bottom-right"]


@settings
class Rectangles(ABC):
    """A region that is a list of rectangles; what lies beyond the image is cut."""

    @abstractmethod
    def rectangles(self, height: int, width: int, id_: str, seed: int) -> list[Rectangle]:
        """Return those of one image."""

    def boxes(self, batch: Batch, seed: int) -> list[list[Rectangle]]:
        """Return the rectangles of every image."""
        height, width = batch.labels.shape[-2:]
        return [self.rectangles(height, width, id_, seed) for id_ in batch.ids]

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """Return everything that a rectangle covers."""
        mask = torch.zeros_like(batch.valid)
        for index, rectangles in enumerate(self.boxes(batch, seed)):
            for rows, columns in rectangles:
                mask[index, rows, columns] = True
        return mask


@regions.register("patches")
@settings
class Patches(Rectangles):
    """A share of the patches of a grid, drawn anew for every image (arXiv:2504.01632, section 3)."""

    positional: ClassVar = "ratio"
    ratio: Annotated[float, Field(ge=0, le=1)] = 0.5  # share of the patches
    size: Pixels = 64  # side of a patch
    mode: Literal["exact", "bernoulli"] = "exact"  # the same number in every image, or each patch by itself
    draw: int = 0  # which of several masks

    def rectangles(self, height: int, width: int, id_: str, seed: int) -> list[Rectangle]:
        """Return chosen patches, row by row."""
        grid = (math.ceil(height / self.size), math.ceil(width / self.size))
        draws = torch.rand(grid, generator=stream(seed, id_, f"mask-{self.draw}"))
        covered = draws < self.ratio if self.mode == "bernoulli" else self._exactly(draws)
        return [
            (_span(row * self.size, self.size, height), _span(column * self.size, self.size, width))
            for row, column in covered.nonzero().tolist()
        ]

    def _exactly(self, draws: Tensor) -> Tensor:
        count = max(round(draws.numel() * self.ratio), 1 if self.ratio > 0 else 0)
        covered = torch.zeros(draws.numel(), dtype=torch.bool)
        covered[draws.flatten().argsort()[:count]] = True
        return covered.view(draws.shape)


@regions.register("box")
@settings
class Box(Rectangles):
    """One rectangle at the centre or in a corner."""

    positional: ClassVar = "position"
    position: Position = "centre"
    height: Pixels = 64
    width: Pixels = 64

    def rectangles(self, height: int, width: int, id_: str, seed: int) -> list[Rectangle]:
        """Return the same in every image."""
        return [(self._along(height, self.height, 0), self._along(width, self.width, 1))]

    def _along(self, full: int, wanted: int, axis: int) -> slice:
        length = min(full, wanted)
        if self.position == "centre":
            start = (full - length) // 2
        else:
            start = 0 if self.position.split("-")[axis] in ("top", "left") else full - length
        return slice(start, start + length)


@regions.register("rectangle")
@settings
class Given(Rectangles):
    """One rectangle in a given place: `rectangle?top=0&left=64&height=64&width=64`."""

    top: PixelsOrNone = 0
    left: PixelsOrNone = 0
    height: Pixels = 64
    width: Pixels = 64

    def rectangles(self, height: int, width: int, id_: str, seed: int) -> list[Rectangle]:
        """Return the same in every image."""
        return [(_span(self.top, self.height, height), _span(self.left, self.width, width))]


@regions.register("boxes")
@settings
class RandomBoxes(Rectangles):
    """Some rectangles in random places, drawn anew for every image; they may overlap."""

    positional: ClassVar = "count"
    count: Pixels = 1
    height: Pixels = 64
    width: Pixels = 64
    draw: int = 0  # which of several masks

    def rectangles(self, height: int, width: int, id_: str, seed: int) -> list[Rectangle]:
        """Place each wholly inside the image, where it fits."""
        corners = torch.rand(self.count, 2, generator=stream(seed, id_, f"mask-{self.draw}")).tolist()
        rows, columns = max(height - self.height, 0) + 1, max(width - self.width, 0) + 1
        return [
            (_span(int(top * rows), self.height, height), _span(int(left * columns), self.width, width))
            for top, left in corners
        ]


def _span(start: int, length: int, full: int) -> slice:
    return slice(min(start, full), min(start + length, full))
