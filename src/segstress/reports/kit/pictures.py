"""Rows of pictures: images as they are, label maps in the colours of their classes, small copies for the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

Colours = Sequence[tuple[int, int, int]]  # of each class

LONGEST = 256  # side of a picture inside the page, in pixels; the files have full size
GREYS = (118, 170)  # the two stripes of the hatching that stands for void


@dataclass(frozen=True, eq=False)
class GalleryPicture:
    """One picture: drawn when it is written, with a smaller copy that lives in the page."""

    caption: str
    file: str  # relative to the page
    draw: Callable[[], np.ndarray]  # 8-bit RGB, at full size
    photograph: bool = False  # may be smoothed and compressed in the page; a label map may not
    data: str = ""  # URI of the copy; empty until it is written


@dataclass(frozen=True, eq=False)
class Strip:
    """One row of the gallery."""

    name: str  # of what is seen; may be empty
    words: str  # about it
    pictures: tuple[GalleryPicture, ...]
    shown: bool = True  # else only its files are written


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


def data_uri(pixels: np.ndarray, *, smooth: bool) -> str:
    """Write a small copy as text for the page; photographs as JPEG, since noise makes a large PNG."""
    kind, options = ("jpeg", {"quality": 90, "subsampling": 0}) if smooth else ("png", {"optimize": True})
    data = io.BytesIO()
    small_copy(pixels, smooth=smooth).save(data, kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(data.getvalue()).decode()}"
