"""Polygons paint the same pixels again, whatever the map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.ndimage import zoom

from segstress.competition.formats.contours import outlines, paint, simplify

maps = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.integers(0, 3))


def repaint(labels: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
    painted = np.full_like(labels, 99)
    for outline in outlines(labels, tolerance):
        paint(painted, outline.label, outline.points)
    return painted


@given(maps)
@settings(max_examples=200)
def test_any_map_comes_back(labels: np.ndarray) -> None:
    np.testing.assert_array_equal(repaint(labels), labels)
    assert all(len(outline.points) > 2 for outline in [*outlines(labels), *outlines(labels, 1.0)])


SPECIAL = {
    "one pixel": ["1"],
    "a line": ["00000", "01110", "00000"],
    "a ring closed over its corners": ["01100", "10010", "10010", "01100"],
    "rings in rings": ["1111111", "1000001", "1022201", "1020201", "1022201", "1000001", "1111111"],
    "touching corners": ["1010", "0101", "1010"],
    "one class": ["1111", "1111"],
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_maps_come_back(name: str) -> None:
    labels = np.array([list(row) for row in SPECIAL[name]]).astype(np.uint8)
    np.testing.assert_array_equal(repaint(labels), labels)


def test_tolerance_leaves_out_points_and_few_pixels_change() -> None:
    labels = (zoom(np.random.default_rng(0).random((6, 6)), 20, order=3) * 4).clip(0, 3).astype(np.uint8)
    exact, rough = (sum(len(each.points) for each in outlines(labels, tolerance)) for tolerance in (0, 2))
    assert rough < exact / 3
    assert 0 < (repaint(labels, 2) != labels).mean() < 0.06


def test_simplify_keeps_far_points_only() -> None:
    ring = [(0, 0), (5, 1), (10, 0), (10, 10), (0, 10)]
    assert simplify(ring, 2) == [(0, 0), (10, 0), (10, 10), (0, 10)]
    assert simplify(ring, 0.5) == ring
