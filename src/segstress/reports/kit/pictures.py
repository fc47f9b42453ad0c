"""Rows of pictures: images as they are, label maps in the colours of their classes, small copies of large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

Colours = Sequence[tuple[int, int, int]]  # of each class

LONGEST = 256  # side up to which the page shows a picture itself, in pixels; of larger ones a small copy
GREYS = (118, 170)  # the two stripes of the hatching that stands for void


@dataclass(frozen=True, eq=False)
class GalleryPicture:
    """One picture: drawn when it is written, with a small copy beside it where it is large."""

    caption: str
    file: str  # relative to the page
    draw: Callable[[], np.ndarray]  # 8-bit RGB, at full size
    photograph: bool = False  # its copy may be smoothed and compressed; a label map's may not
    small: str = ""  # file of the copy, or its own where it is small enough; empty until it is written

    def copy_file(self) -> str:
        """Name the file of the small copy; photographs as JPEG, since noise makes a large PNG."""
        folder, _, name = self.file.rpartition("/")
        return f"{folder}/small/{name.removesuffix('.png')}.{'jpg' if self.photograph else 'png'}"


@dataclass(frozen=True, eq=False)
class Strip:
    """One row of the gallery."""

    name: str  # of what is seen; may be empty
    words: str  # about it
    pictures: tuple[GalleryPicture, ...]
    shown: bool = True  # else only its files are written
    across: int = 7  # pictures beside each other on a wide screen


def paint(labels: np.ndarray, colours: Colours) -> np.ndarray:
    """Draw a label map in the dataset's colours, void hatched in greys so that it looks like no class."""
    painted = np.array(colours, dtype=np.uint8)[np.maximum(labels, 0)]
    rows, columns = np.indices(labels.shape)
    hatching = np.where((rows + columns) // 2 % 2, *GREYS).astype(np.uint8)
    return np.where((labels < 0)[..., None], hatching[..., None], painted)


def photograph(image: np.ndarray) -> np.ndarray:
    """Turn an image in [0, 1] into 8-bit RGB; of more channels the first three, of fewer the first as grey."""
    channels = image[:3] if len(image) >= 3 else image[:1].repeat(3, 0)
    pixels: np.ndarray = np.round(np.clip(channels, 0, 1) * 255).astype(np.uint8)
    return pixels.transpose(1, 2, 0)


def legend(maps: Iterable[np.ndarray], classes: Sequence[str], colours: Colours) -> list[tuple[str, str]]:
    """Return name and colour of the classes that are seen in label maps."""
    seen = {int(label) for labels in maps for label in np.unique(labels) if label >= 0}
    return [(classes[label], "rgb({}, {}, {})".format(*colours[label])) for label in sorted(seen)]


def small_copy(pixels: np.ndarray, *, smooth: bool) -> Image.Image:
    """Shrink a picture so that it can live in a page; without smoothing, no colour appears that was not there."""
    copy = Image.fromarray(pixels)
    copy.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS if smooth else Image.Resampling.NEAREST)
    return copy


def is_large(pixels: np.ndarray) -> bool:
    """Tell whether the page shows a copy of it."""
    return max(pixels.shape[:2]) > LONGEST


def write_copy(pixels: np.ndarray, path: Path, *, smooth: bool) -> None:
    """Write the small copy of a picture."""
    options = {"quality": 90, "subsampling": 0} if smooth else {"optimize": True}
    small_copy(pixels, smooth=smooth).save(path, "jpeg" if smooth else "png", **options)
