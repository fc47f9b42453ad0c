"""Selected images as pictures: the image, its truth, both predictions, and where they differ."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from ..kit.gallery import LONGEST, Palette, Picture, paint

MARK = (201, 81, 47)  # where the predictions differ


@dataclass(frozen=True, eq=False)
class Witness:
    """One selected image and what was seen on it."""

    image_id: str
    words: str  # what it was selected for and how both models did
    pixels: np.ndarray  # 8-bit RGB
    maps: Mapping[str, np.ndarray]  # truth (where known), then the predictions, by their titles; -1 where void


@dataclass(frozen=True)
class Strip:
    """One row of the gallery."""

    words: str
    pictures: tuple[Picture, ...]


def write_gallery(witnesses: Sequence[Witness], palette: Palette, folder: Path) -> list[Strip]:
    """Write every picture at full size, and return small copies for the page."""
    strips = []
    for number, witness in enumerate(witnesses):
        pictures = []
        for place, (title, pixels) in enumerate(_draw(witness, palette).items()):
            file = f"gallery/{number:03d}-{witness.image_id}-{place}.png"
            picture = Image.fromarray(pixels)
            picture.save(folder / file, optimize=True)
            pictures.append(Picture(title, file, _small(picture)))
        strips.append(Strip(witness.words, tuple(pictures)))
    return strips


def _draw(witness: Witness, palette: Palette) -> dict[str, np.ndarray]:
    pictures = {"image": witness.pixels}
    pictures |= {title: paint(labels.astype(np.int64), palette) for title, labels in witness.maps.items()}
    first, second = list(witness.maps.values())[-2:]
    grey = witness.pixels.mean(-1, keepdims=True).repeat(3, -1) * 0.5 + 90
    differ = (first != second)[..., None]
    pictures["where they differ"] = np.where(differ, MARK, grey).astype(np.uint8)
    return pictures


def _small(picture: Image.Image) -> str:
    copy = picture.copy()
    copy.thumbnail((LONGEST, LONGEST), Image.Resampling.NEAREST)
    data = io.BytesIO()
    copy.save(data, "png", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
