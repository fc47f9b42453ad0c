"""At which size a model sees an image: images bilinear and antialiased, labels and masks by their nearest pixel."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Float, Shaped
from pydantic import BeforeValidator, PlainSerializer, model_validator
from torch import Tensor
from torch.nn import functional

from ..core import BadImage, BadInput, settings
from ..core.quantities import MOST_PIXELS
from .sample import Sample

Sides = tuple[int, int]  # height, width

_TEXT = re.compile(r"(?:(?P<rule>short|long|scale|centre-crop)-)?(?P<size>\d+x\d+|\d*\.?\d+)")
_EXPECTED = "expected none, short-512, long-512, scale-0.5, 512x1024 (height x width) or centre-crop-473"


@settings
class Resize:
    """A rule that gives every image its new size; sides are rounded down, as torchvision does."""

    rule: Literal["none", "short", "long", "scale", "exact", "centre-crop"] = "none"
    size: int | Sides | float = 0  # pixels of one side, or (height, width); for scale a factor

    @model_validator(mode="after")
    def _check(self) -> Resize:
        self.scaled(1, 1)
        return self

    def __str__(self) -> str:
        size = "x".join(map(str, self.size)) if isinstance(self.size, tuple) else str(self.size)
        return {"none": "none", "exact": size}.get(self.rule, f"{self.rule}-{size}")

    def scaled(self, height: int, width: int) -> Sides:
        """Return the size that an image of this size is brought to, before any crop."""
        match self.rule, self.size:
            case "none", 0:
                return height, width
            case "exact", (int(new_height), int(new_width)) if min(new_height, new_width) > 0:
                return check_pixels(new_height, new_width)
            case "short" | "centre-crop", int(side) if side > 0:
                factor = Fraction(side, min(height, width))
            case "centre-crop", (int(new_height), int(new_width)) if min(new_height, new_width) > 0:
                factor = max(Fraction(new_height, height), Fraction(new_width, width))
            case "long", int(side) if side > 0:
                factor = Fraction(side, max(height, width))
            case "scale", int(share) | float(share) if 0 < share < math.inf:
                factor = Fraction(str(share))  # through text, so that 0.3 of 10 pixels is 3
            case _:
                raise BadInput(f"resize {self.rule} cannot take size {self.size}; {_EXPECTED}")
        return check_pixels(max(1, math.floor(height * factor)), max(1, math.floor(width * factor)))

    def crop(self, pixels: Shaped[Tensor, "*batch h w"]) -> Shaped[Tensor, "*batch new_h new_w"]:
        """Cut out the centre of scaled pixels, where the rule asks for it; an odd rest is left at the lower right."""
        if self.rule != "centre-crop":
            return pixels
        height, width = self.size if isinstance(self.size, tuple) else (int(self.size), int(self.size))
        top, left = (pixels.shape[-2] - height) // 2, (pixels.shape[-1] - width) // 2
        return pixels[..., top : top + height, left : left + width]


def check_pixels(height: int, width: int) -> Sides:
    """Return the sides of an image, or refuse them before anything so large is made."""
    if height * width > MOST_PIXELS:
        raise BadImage(f"expected an image of at most {MOST_PIXELS:,} pixels, found {height} x {width}")
    return height, width


def parse_sides(text: str) -> int | Sides:
    """Read pixels written `96` or `96x128` (height x width)."""
    height, *width = text.split("x")
    if len(width) > 1 or not all(side.isdecimal() for side in (height, *width)):
        raise BadInput(f"expected pixels such as 96 or 96x128 (height x width), found '{text}'")
    return (int(height), int(width[0])) if width else int(height)


def parse_resize(value: Any) -> Any:
    """Read what `Resize` is made of from the text of a spec; anything else is left to validation."""
    if not isinstance(value, str | int | float):
        return value
    if value == "none":
        return Resize()
    match = _TEXT.fullmatch(str(value))
    if match is None or (match["rule"] is None and "x" not in match["size"]):
        raise BadInput(f"resize: {_EXPECTED}, found {value!r}")
    size = float(match["size"]) if "." in match["size"] else parse_sides(match["size"])
    return {"rule": match["rule"] or "exact", "size": size}


ResizeSetting = Annotated[Resize, BeforeValidator(parse_resize), PlainSerializer(str)]


def resize(sample: Sample, rule: Resize) -> Sample:
    """Bring a sample to the size that the rule wants."""
    return replace(
        sample,
        image=resize_images(sample.image[None], rule)[0],
        labels=resize_mask(sample.labels, rule),
        valid=resize_mask(sample.valid, rule),
    )


def resize_images(images: Float[Tensor, "b c h w"], rule: Resize) -> Float[Tensor, "b c new_h new_w"]:
    """Resize images in [0, 1] by antialiased bilinear interpolation."""
    height, width = images.shape[-2:]
    sides = rule.scaled(height, width)
    if sides != (height, width):
        images = functional.interpolate(images, sides, mode="bilinear", antialias=True).clamp(0, 1)
    return rule.crop(images)


def resize_mask(mask: Shaped[Tensor, "*batch h w"], rule: Resize) -> Shaped[Tensor, "*batch new_h new_w"]:
    """Resize labels or masks: each new pixel takes the old one under its centre (`nearest-exact`)."""
    height, width = mask.shape[-2:]
    new_height, new_width = rule.scaled(height, width)
    if (new_height, new_width) == (height, width):
        return rule.crop(mask)
    rows, columns = _nearest(height, new_height), _nearest(width, new_width)
    return rule.crop(mask[..., rows.to(mask.device)[:, None], columns.to(mask.device)])


def _nearest(old: int, new: int) -> Tensor:
    """Find the old pixels under the new centres, in integers so that no rounding decides."""
    return (2 * torch.arange(new) + 1) * old // (2 * new)
