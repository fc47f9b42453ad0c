"""What files of some depth make of an image."""

from __future__ import annotations

import pytest
import torch

from segstress.core import Depth, depth_of


@pytest.mark.parametrize(
    ("scale", "steps", "words"),
    [
        (None, 255, "8-bit"),
        (255.0, 255, "8-bit"),
        (4095.0, 4095, "12-bit"),
        (65535.0, 65535, "16-bit"),
        (10000.0, 10000, "10001-level"),  # reflectances
        (1.5, 255, "8-bit"),  # a scale of floats is no depth
    ],
)
def test_the_scale_tells_the_depth(scale: float | None, steps: int, words: str) -> None:
    assert depth_of(scale) == Depth(steps)
    assert str(depth_of(scale)) == words


@pytest.mark.parametrize("steps", [255, 65535])
def test_rounding_goes_to_the_nearest_level_and_stays_there(steps: int) -> None:
    pixels = torch.rand(1000, generator=torch.Generator().manual_seed(0))
    rounded = Depth(steps).round(pixels)
    assert ((rounded - pixels).abs() <= 0.51 / steps).all()
    assert torch.equal(Depth(steps).round(rounded), rounded)
    assert not torch.equal(rounded, pixels)
