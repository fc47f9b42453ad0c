"""LabelMe's JSON files: one beside each image, shapes painted in their order, later ones over earlier ones."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field
from scipy import ndimage

from ...core import BadImage, BadInput, settings
from .contours import outlines, paint
from .label_task import (
    LabelResult,
    LabelTask,
    Scheme,
    attempt,
    check_size,
    formats,
    open_image,
    png,
    read_json,
    write_pixels,
)

VERSION = "5.5.0"  # of the layout
IGNORE = "__ignore__"
REJECT = "reject"  # the flag by which an annotator turns an image away


@formats.register("labelme")
@settings
class LabelMe:
    """LabelMe JSON: masks (exact, the default) or polygons (exact, or simplified so that people can edit them)."""

    shapes: Literal["masks", "polygons"] = "masks"
    tolerance: Annotated[float, Field(ge=0)] = 0.0  # pixels by which a simplified polygon may leave the outline

    def write(self, tasks: Iterable[LabelTask], scheme: Scheme, folder: Path) -> None:
        """Write images and JSON files side by side."""
        for task in tasks:
            write_pixels(task, folder)
            height, width = task.labels.shape
            content = {
                "version": VERSION,
                "flags": {REJECT: False},
                "shapes": self._shapes(task.labels, scheme),
                "imagePath": f"{task.image}.png",
                "imageData": None,
                "imageHeight": height,
                "imageWidth": width,
            }
            (folder / f"{task.image}.json").write_text(json.dumps(content))

    def _shapes(self, labels: np.ndarray, scheme: Scheme) -> list[dict[str, Any]]:
        blank = scheme.blank(1, 1)[0, 0]
        if (labels == blank).all():
            return []
        if self.shapes == "masks":
            return [_mask_shape(labels == label, _name(label, scheme)) for label in np.unique(labels) if label != blank]
        polygons = outlines(labels, self.tolerance)
        return [
            _shape(_name(polygon.label, scheme), "polygon", [list(map(float, point)) for point in polygon.points])
            for polygon in polygons
        ]

    def read(self, folder: Path, scheme: Scheme) -> Iterator[LabelResult]:
        """Yield every JSON file below the folder."""
        for path in sorted(folder.rglob("*.json")):
            yield attempt(path.stem, partial(_read, path, scheme))


def _name(label: int, scheme: Scheme) -> str:
    return IGNORE if label == scheme.void else scheme.classes[label]


def _shape(label: str, kind: str, points: list[list[float]], mask: str | None = None) -> dict[str, Any]:
    return {
        "label": label,
        "points": points,
        "group_id": None,
        "description": "",
        "shape_type": kind,
        "flags": {},
        "mask": mask,
    }


def _mask_shape(mask: np.ndarray, label: str) -> dict[str, Any]:
    """Return a crop of ones and zeros; the two corners are inside it."""
    rows, columns = ndimage.find_objects(mask.astype(np.uint8))[0]
    crop = mask[rows, columns].astype(np.uint8)
    corners = [[columns.start, rows.start], [columns.stop - 1, rows.stop - 1]]
    points = [list(map(float, corner)) for corner in corners]
    return _shape(label, "mask", points, base64.b64encode(png(crop)).decode())


def _read(path: Path, scheme: Scheme) -> LabelResult:
    try:
        content = read_json(path)
        labels = scheme.blank(*check_size(int(content["imageHeight"]), int(content["imageWidth"])))
        shapes = list(content["shapes"])
        rejected = bool((content.get("flags") or {}).get(REJECT))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise BadImage(f"is no LabelMe file ({type(error).__name__}: {error})") from error
    for number, shape in enumerate(shapes):
        try:
            _draw(labels, shape, scheme)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            reason = error if isinstance(error, BadInput) else f"cannot be read ({type(error).__name__}: {error})"
            raise BadImage(f"shape {number}: {reason}") from error
    return LabelResult(path.stem, labels, rejected)


def _draw(labels: np.ndarray, shape: Mapping[str, Any], scheme: Scheme) -> None:
    label = scheme.void if shape["label"] == IGNORE else scheme.index(shape["label"])
    kind, points = shape["shape_type"], [(float(x), float(y)) for x, y in shape["points"]]
    least, most = np.min(points, axis=0), np.max(points, axis=0)
    height, width = labels.shape
    if (most < 0).any() or least[0] > width - 1 or least[1] > height - 1 or not np.isfinite(points).all():
        raise BadImage(f"{kind} of '{shape['label']}' lies outside the image of {height} x {width}")
    if kind == "mask":
        _paste(labels, label, points[0], open_image(base64.b64decode(shape["mask"]), "its mask"))
    elif kind == "rectangle":
        paint(labels, label, [(least[0], least[1]), (most[0], least[1]), (most[0], most[1]), (least[0], most[1])])
    elif kind == "polygon" and len(points) > 2:
        paint(labels, label, points)
    else:
        raise BadImage(f"{kind} of {len(points)} points covers no pixels; expected polygon, rectangle or mask")


def _paste(labels: np.ndarray, label: int, corner: tuple[float, float], mask: Any) -> None:
    left, top = (round(side) for side in corner)
    crop = np.asarray(mask)
    height, width = crop.shape[:2]
    if left < 0 or top < 0 or left + width > labels.shape[1] or top + height > labels.shape[0] or crop.ndim != 2:
        raise BadImage(f"mask of {height} x {width} at ({left}, {top}) does not fit into {labels.shape}")
    labels[top : top + height, left : left + width][crop > 0] = label
