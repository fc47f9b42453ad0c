"""Colours for classes that bring none of their own."""

from __future__ import annotations

import colorsys

Colour = tuple[int, int, int]  # red, green, blue in 0..255

GOLDEN = 0.618034  # steps of the golden ratio around the hue circle keep neighbours apart
BACKGROUND: Colour = (52, 58, 70)


def make_palette(count: int, background: int | None) -> tuple[Colour, ...]:
    """Choose distinct, calm colours; the background class is dark so that objects stand out."""
    return tuple(BACKGROUND if label == background else _colour(label) for label in range(count))


def _colour(label: int) -> Colour:
    saturation, value = (0.55, 0.92) if label % 2 else (0.72, 0.78)
    red, green, blue = colorsys.hsv_to_rgb((0.58 + label * GOLDEN) % 1, saturation, value)
    return round(255 * red), round(255 * green), round(255 * blue)
