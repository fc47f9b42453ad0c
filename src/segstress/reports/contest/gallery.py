"""Selected images as pictures: the image, its truth, both predictions, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..kit.pictures import Colours, GalleryPicture, Strip, paint

MARK = (201, 81, 47)  # where the predictions differ


@dataclass(frozen=True, eq=False)
class SelectedImage:
    """One selected image and what was seen on it."""

    image_id: str
    words: str  # what it was selected for and how both models did
    pixels: np.ndarray  # 8-bit RGB
    maps: Mapping[str, np.ndarray]  # truth (where known), then the predictions, by their titles; -1 where void


def strips(images: Sequence[SelectedImage], colours: Colours) -> Iterator[Strip]:
    """Show each image as a row."""
    for number, image in enumerate(images):
        draws = {"image": partial(np.asarray, image.pixels)}
        draws |= {title: partial(paint, labels.astype(np.int64), colours) for title, labels in image.maps.items()}
        draws["where they differ"] = partial(_differences, image)
        pictures = (
            GalleryPicture(
                title, f"gallery/{number:03d}-{image.image_id}-{column}.png", draw, photograph=title == "image"
            )
            for column, (title, draw) in enumerate(draws.items())
        )
        yield Strip("", image.words, tuple(pictures))


def _differences(image: SelectedImage) -> np.ndarray:
    """Mark on a grey image where the two predictions differ."""
    first, second = list(image.maps.values())[-2:]
    grey = image.pixels.mean(-1, keepdims=True).repeat(3, -1) * 0.5 + 90
    marked: np.ndarray = np.where((first != second)[..., None], MARK, grey).astype(np.uint8)
    return marked
