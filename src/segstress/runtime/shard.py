"""What a shard holds: tables of images, counts, objects and traces, and kept pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

Row = dict[str, Any]
IMAGES = pa.schema(
    [(name, pa.string()) for name in ("image", "goal", "status", "message", "finisher", "source", "batch")]
    + [(name, pa.float64()) for name in ("size", "raw_size", "linf", "l2", "l1", "damage")]
    + [(name, pa.float64()) for name in ("margin_10", "margin_50", "margin_90")]
    + [(name, pa.int64()) for name in ("forwards", "backwards", "seed", "height", "width", "correct", "valid")]
    + [(name, pa.int64()) for name in ("won_pixels", "won_pixels_8bit", "aimed", "channels")]
)  # won_pixels_8bit: at the depth of the source; its name is of a time when that was always 8 bits
LATER = {
    "images": (
        *("correct", "valid", "margin_10", "margin_50", "margin_90"),
        *("won_pixels", "won_pixels_8bit", "aimed", "batch", "channels"),
    )
}  # columns that folders of earlier versions do not have
COUNTS = pa.schema(
    [(name, pa.string()) for name in ("image", "goal", "state", "zone")]
    + [(name, pa.int64()) for name in ("class", "hits", "predicted", "actual")]
)
OBJECTS = pa.schema(
    [("image", pa.string()), ("goal", pa.string())]
    + [(name, pa.int64()) for name in ("object", "class", "area", "clean", "correct", "kept")]
)
TRACES = pa.schema([("image", pa.string()), ("forwards", pa.int64()), ("correct", pa.int64())])
SCHEMAS = {
    "counts": COUNTS,
    "objects": OBJECTS,
    "traces": TRACES,
    "images": IMAGES,
}
ORDER = ("image", "goal", "state", "zone", "class", "object", "forwards")  # by which rows are sorted


@dataclass
class Shard:
    """The answers to one unit."""

    images: list[Row] = field(default_factory=list)
    counts: list[Row] = field(default_factory=list)
    objects: list[Row] = field(default_factory=list)
    traces: list[Row] = field(default_factory=list)  # pixels right after so many forwards, where an attack tells
    kept: dict[str, np.ndarray] = field(default_factory=dict)  # "goal|image" -> float32 image
    maps: dict[str, np.ndarray] = field(
        default_factory=dict
    )  # "truth|image", "clean|...", "inside|...", "goal|..." -> labels

    def extend(self, other: Shard) -> None:
        """Add another's answers."""
        for name in SCHEMAS:
            getattr(self, name).extend(getattr(other, name))
        self.kept.update(other.kept)
        self.maps.update(other.maps)
