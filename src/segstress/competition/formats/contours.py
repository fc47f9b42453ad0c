"""Outlines of label maps as polygons that paint the same pixels again, and simpler ones that people can edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Shaped
from PIL import Image, ImageDraw
from scipy import ndimage

Point = tuple[int, int]  # x, y: a pixel's column and row
AROUND: tuple[Point, ...] = (
    (1, 0),
    (1, 1),
    (0, 1),
    (-1, 1),
    (-1, 0),
    (-1, -1),
    (0, -1),
    (1, -1),
)  # clockwise on screen


@dataclass(frozen=True)
class Outline:
    """The outer contour of one piece; what lies in its holes is painted after it."""

    label: int
    points: list[Point]  # at least three, because tools take no fewer: a dot or a line repeats its first


def outlines(labels: Shaped[np.ndarray, "h w"], tolerance: float = 0.0) -> list[Outline]:
    """Return every 4-connected piece, the largest filled one first, so that painting in order gives the map back.

    With 8-connected pieces a ring that closes over a corner would lose its inside. A tolerance in pixels leaves out
    points that matter less.
    """
    pieces = sorted(_pieces(labels), key=lambda piece: -piece[0])
    rings = ((label, simplify(points, tolerance) if tolerance else points) for _, label, points in pieces)
    return [Outline(label, [*points, *points[:1] * (3 - len(points))]) for label, points in rings]


def _pieces(labels: np.ndarray) -> Iterator[tuple[int, int, list[Point]]]:
    for label in np.unique(labels).tolist():
        pieces, _ = ndimage.label(labels == label)
        for number, window in enumerate(ndimage.find_objects(pieces), start=1):
            inside = pieces[window] == number
            left, top = window[1].start, window[0].start
            points = [(x + left, y + top) for x, y in _trace(inside)]
            yield int(ndimage.binary_fill_holes(inside).sum()), label, points


def _trace(inside: Bool[np.ndarray, "h w"]) -> list[Point]:
    """Return the corners of the outer border of one piece, walked clockwise with the outside at the left hand."""
    padded = np.pad(inside, 1).tolist()
    start = (int(np.flatnonzero(inside[0])[0]) + 1, 1)
    heading, at = 0, start
    first: tuple[Point, int] | None = None
    walked: list[Point] = []
    while True:
        for turn in range(8):
            direction = (heading + 6 + turn) % 8  # begin two steps to the left of the last heading
            x, y = at[0] + AROUND[direction][0], at[1] + AROUND[direction][1]
            if padded[y][x]:
                break
        else:
            return [(start[0] - 1, start[1] - 1)]  # a single pixel
        if (at, direction) == first:
            return walked
        first = first or (at, direction)
        if not walked or direction != heading:
            walked.append((at[0] - 1, at[1] - 1))
        heading, at = direction, (x, y)


def simplify(points: list[Point], tolerance: float) -> list[Point]:
    """Drop corners of a ring, none of them farther away than the tolerance (Douglas and Peucker 1973)."""
    ring = np.array(points, dtype=np.float64)
    far = int(((ring - ring[0]) ** 2).sum(1).argmax())
    kept = {0, far}
    todo = [(0, far), (far, len(points))]
    closed = np.vstack([ring, ring[:1]])
    while todo:
        begin, end = todo.pop()
        between = closed[begin + 1 : end]
        if not len(between):
            continue
        gaps = _distances(between, closed[begin], closed[end])
        worst = int(gaps.argmax())
        if gaps[worst] > tolerance:
            middle = begin + 1 + worst
            kept.add(middle)
            todo += [(begin, middle), (middle, end)]
    return [points[corner] for corner in sorted(kept)]


def _distances(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Measure points from the line through two others, or from the one where they coincide."""
    along = end - start
    length = float(np.hypot(*along))
    away = points - start
    return np.abs(along[0] * away[:, 1] - along[1] * away[:, 0]) / length if length else np.hypot(*away.T)


def paint(labels: Shaped[np.ndarray, "h w"], label: int, points: list[tuple[float, float]]) -> None:
    """Give the pixels on and inside a polygon a label, in place."""
    canvas = Image.new("1", labels.shape[::-1])
    ImageDraw.Draw(canvas).polygon(points, fill=1, outline=1)
    labels[np.asarray(canvas)] = label
