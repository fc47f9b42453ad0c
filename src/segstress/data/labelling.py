"""From the codes of a mask file, ids or colours, to classes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from .palette import Colour

VOID, UNKNOWN = -1, -2
Codes = Mapping[int, int]  # what stands in a mask -> class, or VOID


def colour_code(colour: Colour) -> int:
    """Write a colour as 0xRRGGBB, the code under which `read_mask` reports it."""
    red, green, blue = colour
    return (red << 16) + (green << 8) + blue


def translate(mask: Int64[ndarray, "h w"], codes: Codes) -> Int64[ndarray, "h w"]:
    """Return the class of every pixel, VOID where it is ignored, UNKNOWN where its code is neither."""
    keys = np.array(sorted(codes))
    classes = np.array([codes[key] for key in sorted(codes)])
    places = np.searchsorted(keys, mask).clip(max=len(keys) - 1)
    return np.where(keys[places] == mask, classes[places], UNKNOWN)


def unknown_codes(mask: Int64[ndarray, "h w"], codes: Codes) -> list[int]:
    """Return the codes in a mask that stand for nothing, in ascending order."""
    return [int(code) for code in np.unique(mask[translate(mask, codes) == UNKNOWN])]
