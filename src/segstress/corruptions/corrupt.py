"""A corruption as a perturbation: what, how strongly, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from ..core import (
    BadInput,
    Batch,
    CurvePoint,
    Perturbed,
    Rectangles,
    Region,
    Result,
    Stage,
    describe,
    distance_zones,
    perturbations,
    regions,
    settings,
)
from ..core.quantities import Pixels
from .corruption import Altered, Corruption, alter, corruptions


@perturbations.register("corrupt")
@settings
class Corrupt:
    """Degrade the whole image or a region of it: `corrupt:fog?severity=3`."""

    positional: ClassVar = "corruption"
    corruption: Annotated[Corruption, *corruptions.field()]
    severity: Annotated[float, Field(ge=0, le=5)] = 3.0
    region: Annotated[Region | None, *regions.field()] = None  # none = everywhere
    apply: Literal["whole", "patches"] = "whole"  # corrupt the image and keep the region, or each patch by itself
    stage: Stage = "native"  # before or after the images are brought to the model's size
    reference_size: Pixels | None = None  # shorter side that lengths in pixels are meant for
    distances: tuple[Pixels, ...] = ()  # edges of the rings around the region to count in, pixels

    threat: ClassVar[None] = None
    parts: ClassVar[str] = ""
    channels: ClassVar[int] = 3  # colours

    @model_validator(mode="after")
    def _check(self) -> Corrupt:
        if self.apply == "patches" and not isinstance(self.region, Rectangles):
            raise BadInput("apply=patches needs a region made of rectangles, such as patches or box; or apply=whole")
        return self

    @property
    def name(self) -> str:
        """Its name in tables."""
        return self.label

    @property
    def about(self) -> str:
        """Its settings in one line."""
        return describe(self)

    @property
    def curve_point(self) -> CurvePoint:
        """Which corruption, how it is applied, and how severe."""
        return CurvePoint(" ".join([corruptions.name(self.corruption), *self._ways()]), self.severity)

    def passes(self) -> tuple[int, int]:
        """Count none: it does not look at the model."""
        return 0, 0

    @property
    def label(self) -> str:
        """Its name in tables."""
        words = [corruptions.name(self.corruption), f"{self.severity:g}"]
        if self.region is not None:
            words += ["in", regions.name(self.region)]
        return " ".join([*words, *self._ways()])

    def _ways(self) -> Iterator[str]:
        """Name what is not as usual, beside severity and region."""
        if self.apply == "patches":
            yield "by patch"
        if self.stage == "network":
            yield "after resizing"
        if self.reference_size is not None:
            yield f"at scale {self.reference_size}"

    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """Return the corrupted images, and the zones inside and outside of what was touched."""
        region = None if self.region is None else self.region.mask(batch, seed)
        if self.apply == "patches" and isinstance(self.region, Rectangles):
            altered = Altered(self._by_patch(self.region, batch, seed), region)
        else:
            altered = self._alter(batch.images, batch.ids, seed)
            if region is not None:
                blended = torch.where(region[:, None], altered.images, batch.images)
                altered = replace(altered, images=blended, touched=region)
        nothing = torch.zeros(len(batch), dtype=torch.int64)
        size = (altered.images - batch.images).flatten(1).abs().amax(1)
        result = Result("any", altered.images, size)
        zones = {} if altered.touched is None else distance_zones(altered.touched, self.distances)
        return Perturbed(results=(result,), forwards=nothing, backwards=nothing, zones=zones)

    def _by_patch(self, region: Rectangles, batch: Batch, seed: int) -> Tensor:
        """Corrupt each patch as if it were an image, with draws of its own."""
        images = batch.images.clone()
        for index, (id_, rectangles) in enumerate(zip(batch.ids, region.boxes(batch, seed), strict=True)):
            for rows, columns in rectangles:
                part = f"/patch-{rows.start}-{columns.start}"
                crop = batch.images[index : index + 1, :, rows, columns]
                images[index, :, rows, columns] = self._alter(crop, (id_,), seed, part).images[0]
        return images

    def _alter(self, images: Tensor, ids: tuple[str, ...], seed: int, part: str = "") -> Altered:
        return alter(
            self.corruption, images, self.severity, ids=ids, seed=seed, reference_size=self.reference_size, part=part
        )
