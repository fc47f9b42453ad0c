"""What a network expects and what it gives: the settings by which one adapter serves them all."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ..core import BadInput, settings
from ..core.quantities import Pixels, PixelsOrNone


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, int | float) else value


def _pair(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else value


def _pad(value: Any) -> Any:
    """Read `32` and `8,1`, as a command line writes the mapping."""
    if isinstance(value, int):
        return Pad(multiple=value)
    return Pad(multiple=value[0], plus=value[1]) if isinstance(value, list | tuple) and len(value) == 2 else value


def _not_zero(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if 0 in numbers:
        raise BadInput(f"std: expected numbers other than 0, found {numbers}")
    return numbers


Finite = Annotated[float, Field(allow_inf_nan=False)]
Numbers = Annotated[tuple[Finite, ...], BeforeValidator(_several), Field(min_length=1)]
Size = Annotated[tuple[Pixels, Pixels], BeforeValidator(_pair)]  # height and width in pixels; one number is a square


@settings
class Pad:
    """The sides that a network demands: a multiple of something plus a rest, such as 8n + 1."""

    multiple: Pixels = 32
    plus: PixelsOrNone = 0

    def missing(self, side: int) -> int:
        """Count the pixels by which a side falls short of the next size that fits."""
        steps = max(0, -(-(side - self.plus) // self.multiple))
        return steps * self.multiple + self.plus - side


@settings
class Interface:
    """How images go in and logits come out."""

    preprocess: str = (
        ""  # file.py:function on images in [0, 1], before all else; its gradient is taken as the identity's
    )
    bgr: bool = False  # turn the channels round
    scale: Finite = 1.0  # 255 for a network on 0..255
    mean: Numbers = (0.0,)  # subtracted after bgr and scale: in the network's own units and channel order
    std: Annotated[Numbers, AfterValidator(_not_zero)] = (1.0,)  # divided by after that
    pad: Annotated[Pad | None, BeforeValidator(_pad)] = None  # fill right and below with the mean, cut off again
    drop_outputs: Annotated[tuple[int, ...], BeforeValidator(_several)] = ()  # channels without a class; -1 is the last
    upsample: Literal["none", "bilinear"] = "none"  # bring smaller logits to the size of the image
    window: Size | None = None  # look at parts of this size and average where they overlap
    stride: Size | None = None  # from one window to the next; by default two thirds of a window
    mirror: bool = False  # look at the mirrored image, or window, too and average both
    average: Literal["logits", "softmax"] = "logits"  # what is averaged over windows and mirror images
    long_side: Pixels | None = None  # bring the longer side to so many pixels, and the answer back to the image's size

    @model_validator(mode="after")
    def _check(self) -> Interface:
        window, stride = self.window or (0, 0), self.stride or (0, 0)
        if any(step > side for step, side in zip(stride, window, strict=True)):
            raise BadInput(f"stride: expected at most the window {self.window}, found {stride}, which leaves gaps")
        return self
