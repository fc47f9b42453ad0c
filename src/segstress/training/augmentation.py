"""Change images and masks together, so that training sees more than there is: all on torch, all from one stream."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Literal

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Generator, Tensor
from torch.nn import functional

from ..core import BadInput, settings
from ..core.quantities import CountOrNone, Pixels
from ..data import Resize, Sample, resize
from .patches import CutMix, PatchDamage

Share = Annotated[float, Field(ge=0, le=1)]


@settings
class Augmentation:
    """Scale, turn, blur, mirror, crop, corrupt a patch and mix, in this order; nothing by default.

    Pixels from outside the image get its mean colour and are void.
    """

    scale: tuple[float, float] = (1.0, 1.0)  # smallest and largest factor
    spread: Literal["log-uniform", "uniform"] = "log-uniform"  # of the factors between them
    short_side: Pixels | None = None  # what the factors are of; none = the image's own short side
    turn: Annotated[float, Field(ge=0, le=180)] = 0.0  # degrees to either side at most, for half of the images
    blur: Share = 0.0  # share of the images that are blurred, by a Gaussian five pixels wide
    blur_sigma: Annotated[float, Field(gt=0, le=10)] | None = None  # its deviation in pixels; none = drawn, up to one
    mirror: Share = 0.0  # share of the images that are mirrored left to right
    crop: Pixels | tuple[Pixels, Pixels] | None = None  # side, or height and width
    outside: CountOrNone | None = None  # class of what a crop adds to a smaller image; none = void
    patch: PatchDamage | None = None  # a box is corrupted
    cutmix: CutMix | None = None  # a box comes from another image, which a reader of them brings

    @model_validator(mode="after")
    def _check(self) -> Augmentation:
        if not 0 < self.scale[0] <= self.scale[1]:
            raise BadInput(f"scale: expected two factors, the smaller first, found {self.scale}")
        return self

    def __call__(self, sample: Sample, random: Generator) -> Sample:
        """Change the sample; every draw is made, so that one setting does not shift the draws of another."""
        scale, turning, turn, blurring, blur, mirror, top, left = torch.rand(8, generator=random).tolist()
        sample = self._scaled(sample, scale)
        if self.turn and turning < 0.5:
            sample = _turn(sample, math.radians(self.turn * (2 * turn - 1)))
        if blurring < self.blur:
            sample = replace(sample, image=_blur(sample.image, sigma=self.blur_sigma or max(blur, 0.1)))
        if mirror < self.mirror:
            image, labels, valid = (part.flip(-1) for part in (sample.image, sample.labels, sample.valid))
            sample = replace(sample, image=image, labels=labels, valid=valid)
        if self.crop is not None:
            sides = (self.crop, self.crop) if isinstance(self.crop, int) else self.crop
            sample = _crop(sample, sides, (top, left), self.outside)
        return sample if self.patch is None else self.patch(sample, random)

    def _scaled(self, sample: Sample, draw: float) -> Sample:
        """Scale by a factor of the image's own size, or of a short side that is the same for all images."""
        low, high = self.scale if self.spread == "uniform" else map(math.log, self.scale)
        factor = low + draw * (high - low)
        factor = factor if self.spread == "uniform" else math.exp(factor)
        if self.short_side is not None:
            return resize(sample, Resize(rule="short", size=max(1, round(factor * self.short_side))))
        return sample if factor == 1 else resize(sample, Resize(rule="scale", size=factor))


def _turn(sample: Sample, angle: float) -> Sample:
    """Turn about the centre: the image bilinear, labels by their nearest pixel."""
    height, width = sample.labels.shape
    cosine, sine, aspect = math.cos(angle), math.sin(angle), height / width
    motion = torch.tensor([[[cosine, -sine * aspect, 0], [sine / aspect, cosine, 0]]])
    grid = functional.affine_grid(motion, [1, 1, height, width], align_corners=False)
    mean = _mean(sample.image)
    image = mean + functional.grid_sample((sample.image - mean)[None], grid, align_corners=False)[0]
    flat = torch.stack([sample.labels, sample.valid]).double()  # double holds every class number exactly
    turned = functional.grid_sample(flat[None], grid.double(), mode="nearest", align_corners=False)[0]
    return replace(sample, image=image.clamp(0, 1), labels=turned[0].long(), valid=turned[1].bool())


def _blur(image: Float[Tensor, "c h w"], sigma: float) -> Float[Tensor, "c h w"]:
    """Blur five pixels wide, down and then across."""
    weights = torch.exp(-((torch.arange(5) - 2.0) ** 2) / (2 * sigma**2))
    weights = weights / weights.sum()
    planes = functional.pad(image[:, None], (2, 2, 2, 2), mode="replicate")
    across = functional.conv2d(functional.conv2d(planes, weights.view(1, 1, 5, 1)), weights.view(1, 1, 1, 5))
    return across[:, 0].clamp(0, 1)


def _crop(sample: Sample, sides: tuple[int, int], offsets: tuple[float, float], outside: int | None) -> Sample:
    """Cut a window at a random position; a smaller image lies centred in it, with void or one class around it."""
    full = sample.labels.shape
    missing = [max(0, side - length) for side, length in zip(sides, full, strict=True)]
    down, across = missing[0] // 2, missing[1] // 2
    margins = (across, missing[1] - across, down, missing[0] - down)
    starts = [
        int(share * (max(length, side) - side + 1)) for share, length, side in zip(offsets, full, sides, strict=True)
    ]
    rows, columns = (slice(start, start + side) for start, side in zip(starts, sides, strict=True))
    mean = _mean(sample.image)
    image = mean + functional.pad(sample.image - mean, margins) if any(missing) else sample.image
    labels = functional.pad(sample.labels, margins, value=outside or 0)
    valid = functional.pad(sample.valid, margins, value=outside is not None)
    return replace(
        sample, image=image[:, rows, columns].clamp(0, 1), labels=labels[rows, columns], valid=valid[rows, columns]
    )


def _mean(image: Float[Tensor, "c h w"]) -> Float[Tensor, "c 1 1"]:
    return image.mean((1, 2), keepdim=True)
