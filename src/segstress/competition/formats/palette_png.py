"""Masks as PNG files whose pixels are class ids, with Pascal VOC's colours; also a dataset to train on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from ...core import BadImage, settings
from ...core.files import read_bounded
from .label_task import (
    LARGEST,
    LabelResult,
    LabelTask,
    Scheme,
    attempt,
    colour_of,
    formats,
    open_image,
    write_pixels,
)


@formats.register("png")
@settings
class PalettePng:
    """Folders images and masks, and classes.txt: what `folder:` reads, so the labelled set can be trained on."""

    def write(self, tasks: Iterable[LabelTask], scheme: Scheme, folder: Path) -> None:
        """Write images, masks and the names of the classes."""
        (folder / "masks").mkdir(parents=True, exist_ok=True)
        (folder / "classes.txt").write_text("".join(f"{name}\n" for name in scheme.classes))
        for task in tasks:
            write_pixels(task, folder / "images")
            write_mask(folder / "masks" / f"{task.image}.png", task.labels)

    def read(self, folder: Path, scheme: Scheme) -> Iterator[LabelResult]:
        """Yield every mask in the folder masks, or in the folder itself."""
        source = folder / "masks" if (folder / "masks").is_dir() else folder
        for path in sorted(source.glob("*.png")):
            yield attempt(path.stem, lambda path=path: LabelResult(path.stem, read_mask(path, scheme)))  # type: ignore[misc]


def write_mask(path: Path, labels: np.ndarray) -> None:
    """Write a label map as a palette PNG; with more than 255 classes as 16-bit grey."""
    image = Image.fromarray(labels)
    if labels.dtype == np.uint8:
        image.putpalette([channel for label in range(256) for channel in colour_of(label)])
    image.save(path, "png")


def read_mask(path: Path, scheme: Scheme) -> np.ndarray:
    """Return a label map; BadImage where it holds labels that are neither a class nor void."""
    image = open_image(read_bounded(path, LARGEST, "mask"), path.name)
    if image.mode not in ("L", "P", "I;16", "I"):
        raise BadImage(f"{path.name}: expected one channel of class ids, found {image.mode}")
    codes = np.asarray(image)
    labels = codes.astype(scheme.blank(1, 1).dtype)
    strange = codes[(codes != scheme.void) & (codes >= len(scheme.classes))]
    if strange.size:
        raise BadImage(f"{path.name}: label {strange.min()} is neither one of {len(scheme.classes)} classes nor void")
    return labels
