"""Boxes of images that are corrupted, or come from another image: what localized damage does, seen in training."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field, model_validator
from torch import Generator, Tensor

from ..core import BadInput, settings
from ..corruptions import alter, corruptions, expand
from ..data import Sample

Share = Annotated[float, Field(ge=0, le=1)]
Severity = Annotated[float, Field(ge=0, le=5)]


@settings
class PatchDamage:
    """A box of the image is corrupted: cutout (arXiv:1708.04552) that degrades instead of erasing."""

    share: Share = 0.5  # of the images
    corruptions: tuple[str, ...] = ("common15",)  # by name or suite; one of them is drawn for each image
    severity: tuple[Severity, Severity] = (1.0, 5.0)  # mildest and strongest, uniform between them
    sides: tuple[Share, Share] = (0.2, 0.6)  # of the box, shortest and longest share of the image's

    @model_validator(mode="after")
    def _check(self) -> PatchDamage:
        expand(self.corruptions)  # raises where one is unknown
        _check_range("severity", self.severity)
        _check_range("sides", self.sides)
        return self

    def __call__(self, sample: Sample, random: Generator) -> Sample:
        """Corrupt the image and keep what lies in the box; every draw is made, so that shares shift no other."""
        among, strength, use = torch.rand(3, generator=random).tolist()
        box = draw_box(sample.labels, self.sides, random)
        seed = int(torch.randint(2**31, (1,), generator=random))
        if use >= self.share:
            return sample
        names = expand(self.corruptions)
        mildest, strongest = self.severity
        corrupted = alter(
            corruptions.build(names[int(among * len(names))]),
            sample.image[None],
            mildest + strength * (strongest - mildest),
            ids=[sample.id],
            seed=seed,
        ).images[0]
        return replace(sample, image=torch.where(box, corrupted, sample.image))


@settings
class CutMix:
    """A box of the image and its mask come from another image (Yun et al. 2019, arXiv:1905.04899)."""

    share: Share = 0.5  # of the images
    sides: tuple[Share, Share] = (0.2, 0.6)  # of the box, shortest and longest share of the image's

    @model_validator(mode="after")
    def _check(self) -> CutMix:
        _check_range("sides", self.sides)
        return self

    def __call__(self, sample: Sample, other: Sample, random: Generator) -> Sample:
        """Paste a box of the other image at its own place."""
        if sample.labels.shape != other.labels.shape:
            sizes = " and ".join(str(tuple(part.labels.shape)) for part in (sample, other))
            raise BadInput(f"cutmix: expected images of one size, found {sizes}; set a crop")
        box = draw_box(sample.labels, self.sides, random)
        return replace(
            sample,
            image=torch.where(box, other.image, sample.image),
            labels=torch.where(box, other.labels, sample.labels),
            valid=torch.where(box, other.valid, sample.valid),
        )


def draw_box(labels: Tensor, sides: tuple[float, float], random: Generator) -> Tensor:
    """Draw a rectangle that lies inside the image, as a mask; at least one pixel."""
    inside = torch.zeros_like(labels, dtype=torch.bool)
    draws, spans = torch.rand(4, generator=random).tolist(), []
    for full, length, start in zip(labels.shape, draws[:2], draws[2:], strict=True):
        side = max(1, round(full * (sides[0] + length * (sides[1] - sides[0]))))
        first = int(start * (full - side + 1))
        spans.append(slice(first, first + side))
    inside[spans[0], spans[1]] = True
    return inside


def _check_range(name: str, ends: tuple[float, float]) -> None:
    if ends[0] > ends[1]:
        raise BadInput(f"{name}: expected two numbers, the smaller first, found {ends}")
