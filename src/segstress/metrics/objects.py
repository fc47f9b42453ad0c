"""Survival by size: how much of each true object is still right, small ones against large ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Int64, Num
from scipy import ndimage

EIGHT_NEIGHBOURS = np.ones((3, 3), dtype=int)


@dataclass(frozen=True)
class ImageObjects:
    """The connected pieces of each class in one image."""

    classes: Int64[np.ndarray, " objects"]
    areas: Int64[np.ndarray, " objects"]  # pixels
    components: Int64[np.ndarray, "h w"]  # 1 + number of the object; 0 = none


def objects(labels: Int[np.ndarray, "h w"], valid: Bool[np.ndarray, "h w"], background: int | None) -> ImageObjects:
    """Find the 8-connected pieces of the truth, class by class; void and background are no objects."""
    components = np.zeros(labels.shape, dtype=np.int64)
    classes: list[int] = []
    for class_ in np.unique(labels[valid]):
        if class_ == background:
            continue
        pieces, number = ndimage.label(valid & (labels == class_), EIGHT_NEIGHBOURS)
        components += np.where(pieces > 0, pieces + len(classes), 0)
        classes += [class_] * number
    return ImageObjects(np.array(classes, dtype=np.int64), _areas(components, len(classes)), components)


def object_hits(pieces: ImageObjects, prediction: Int[np.ndarray, "h w"]) -> Int64[np.ndarray, " objects"]:
    """Count pixels of each object that are predicted as its class."""
    class_of = np.append(pieces.classes, -1)  # component 0 reads the last one: no class
    right = prediction == class_of[pieces.components - 1]
    return _areas(pieces.components * right, len(pieces.classes))


def _areas(components: np.ndarray, number: int) -> np.ndarray:
    return np.bincount(components.ravel(), minlength=number + 1)[1:]


class SizeGroup(NamedTuple):
    """ImageObjects of about one size."""

    smallest: int  # pixels
    largest: int
    objects: int
    share: float  # of an object's pixels that are correct, mean over objects


def by_size(
    areas: Num[np.ndarray, " objects"], correct: Num[np.ndarray, " objects"], groups: int = 10
) -> list[SizeGroup]:
    """Group objects equally by size (deciles by default): the share of their correct pixels against their area."""
    if not len(areas):
        return []
    group = size_groups(areas, groups)
    return [_size_group(areas[group == number], correct[group == number]) for number in np.unique(group)]


def size_groups(areas: Num[np.ndarray, " objects"], groups: int = 10) -> Int64[np.ndarray, " objects"]:
    """Return the group that each object belongs to; equal areas stay together, so a group may be larger or empty."""
    return np.searchsorted(np.quantile(areas, np.arange(1, groups) / groups), areas)


def _size_group(areas: np.ndarray, correct: np.ndarray) -> SizeGroup:
    return SizeGroup(int(areas.min()), int(areas.max()), len(areas), float((correct / areas).mean()))
