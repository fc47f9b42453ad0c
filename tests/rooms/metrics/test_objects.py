"""Objects, their survival and its dependence on size."""

from __future__ import annotations

import numpy as np
import pytest

from segstress.metrics.objects import SizeGroup, by_size, object_hits, objects

LABELS = np.array(
    [
        [1, 0, 0, 2, 2],
        [0, 1, 0, 2, 2],
        [0, 0, 0, 0, 1],
        [2, 2, 1, 1, 1],
    ]
)
VALID = np.ones_like(LABELS, dtype=bool)
VALID[1, 4] = False  # void, whatever its label says


def test_pieces_join_at_corners_and_stop_at_classes() -> None:
    """Class 1: a diagonal of 2 and an angle of 4; class 2: 3 and 2; void and background are none."""
    found = objects(LABELS, VALID, background=0)
    assert found.classes.tolist() == [1, 1, 2, 2]
    assert found.areas.tolist() == [2, 4, 3, 2]
    assert found.components.tolist() == [[1, 0, 0, 3, 3], [0, 1, 0, 3, 0], [0, 0, 0, 0, 2], [4, 4, 2, 2, 2]]


def test_without_background_every_class_has_objects() -> None:
    """The zeros are one piece: diagonal steps join them."""
    found = objects(LABELS, VALID, background=None)
    assert found.classes.tolist() == [0, 1, 1, 2, 2]
    assert found.areas.tolist() == [8, 2, 4, 3, 2]


def test_hits_are_pixels_of_the_object_said_to_be_its_class() -> None:
    """Neither void nor background pixels count, nor the right class in the wrong place."""
    found = objects(LABELS, VALID, background=0)
    assert object_hits(found, LABELS).tolist() == found.areas.tolist()
    assert object_hits(found, np.full_like(LABELS, 1)).tolist() == [2, 4, 0, 0]
    shifted = np.roll(LABELS, 1, axis=1)  # row 3 becomes 1 2 2 1 1
    assert object_hits(found, shifted)[[1, 3]].tolist() == [2, 1]


def test_an_image_of_void_has_no_objects() -> None:
    """And no hits."""
    found = objects(LABELS, np.zeros_like(VALID), background=0)
    assert len(found.classes) == len(found.areas) == len(object_hits(found, LABELS)) == 0


def test_size_groups_by_hand() -> None:
    """Two halves: the small with shares 0 and 1/2, the large with 1 and 1/4."""
    groups = by_size(np.array([40, 1, 10, 2]), np.array([10, 0, 10, 1]), groups=2)
    assert groups == [SizeGroup(1, 2, 2, 0.25), SizeGroup(10, 40, 2, 0.625)]


def test_deciles_hold_equal_numbers_and_keep_equal_areas_together() -> None:
    """A hundred sizes make ten tens; a single size makes one group."""
    random = np.random.default_rng(0)
    areas = random.permutation(np.arange(1, 101))
    groups = by_size(areas, areas)
    assert [group.objects for group in groups] == [10] * 10
    assert [group.smallest for group in groups] == list(range(1, 101, 10))
    assert by_size(np.full(7, 5), np.arange(7) % 6) == [SizeGroup(5, 5, 7, pytest.approx(15 / 35))]
    assert by_size(np.array([]), np.array([])) == []
