"""Where a perturbation acts: masks that depend on the run seed and the image id only, so every model sees the same."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal, Protocol

import torch
from jaxtyping import Bool
from pydantic import Field
from torch import Tensor

from .errors import BadInput
from .registry import Registry
from .seeding import stream
from .settings import settings
from .types import Batch


class Region(Protocol):
    """A rule that says which pixels of an image belong."""

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """True where it does."""
        ...


regions: Registry[Region] = Registry("region")


@regions.register("patches")
@settings
class Patches:
    """A share of the patches of a grid, drawn anew for every image (arXiv:2504.01632, section 3)."""

    rest: ClassVar = "ratio"
    ratio: Annotated[float, Field(ge=0, le=1)] = 0.5  # share of the patches
    size: Annotated[int, Field(ge=1)] = 64  # side of a patch in pixels
    mode: Literal["exact", "bernoulli"] = "exact"  # the same number in every image, or each patch by itself
    draw: int = 0  # which of several masks

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """Chosen patches, cut at the right and lower border."""
        height, width = batch.labels.shape[-2:]
        grid = (math.ceil(height / self.size), math.ceil(width / self.size))
        masks = []
        for id_ in batch.ids:
            draws = torch.rand(grid, generator=stream(seed, id_, f"mask-{self.draw}"))
            chosen = draws < self.ratio if self.mode == "bernoulli" else self._exactly(draws)
            patches = chosen.repeat_interleave(self.size, 0).repeat_interleave(self.size, 1)
            masks.append(patches[:height, :width])
        return torch.stack(masks).to(batch.labels.device)

    def _exactly(self, draws: Tensor) -> Tensor:
        count = max(round(draws.numel() * self.ratio), 1 if self.ratio > 0 else 0)
        chosen = torch.zeros(draws.numel(), dtype=torch.bool)
        chosen[draws.flatten().argsort()[:count]] = True
        return chosen.view(draws.shape)


Position = Literal["centre", "top-left", "top-right", "bottom-left", "bottom-right"]


@regions.register("box")
@settings
class Box:
    """One rectangle at the centre or in a corner; larger than the image, it is cut."""

    rest: ClassVar = "position"
    position: Position = "centre"
    height: Annotated[int, Field(ge=1)] = 64  # pixels
    width: Annotated[int, Field(ge=1)] = 64

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """The rectangle, the same in every image."""
        mask = torch.zeros_like(batch.valid)
        rows, columns = (
            self._span(*sides) for sides in zip(mask.shape[-2:], (self.height, self.width), (0, 1), strict=True)
        )
        mask[:, rows, columns] = True
        return mask

    def _span(self, full: int, wanted: int, axis: int) -> slice:
        length = min(full, wanted)
        if self.position == "centre":
            start = (full - length) // 2
        else:
            start = 0 if self.position.split("-")[axis] in ("top", "left") else full - length
        return slice(start, start + length)


@regions.register("classes")
@settings
class Classes:
    """The pixels whose true class is one of those given."""

    rest: ClassVar = "classes"
    classes: tuple[int, ...] | int

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """True on those classes, void left out."""
        wanted = (self.classes,) if isinstance(self.classes, int) else self.classes
        if not wanted:
            raise BadInput("region classes: expected at least one class id, found none")
        return torch.isin(batch.labels, torch.tensor(wanted, device=batch.labels.device)) & batch.valid
