"""Pictures of what a perturbation did: image, truth, clean prediction, perturbed image, delta, prediction."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from .study import Frame, Study

COLUMNS = ("image", "truth", "clean prediction", "perturbed image", "delta", "prediction")
PHOTOGRAPHS = ("image", "perturbed image", "delta")  # the others are label maps
SHOWN = 12  # strips on the page; every frame is in the folder
THUMBNAIL = 256  # longest side in the page, in pixels
GREYS = (118, 170)  # the two stripes of the hatching that stands for void


@dataclass(frozen=True)
class Strip:
    """One row of the gallery on the page."""

    image: str
    outcome: str
    factor: int  # by which the delta is amplified
    clean: float  # share of pixels right, before and after
    after: float
    pictures: tuple[tuple[str, str, str], ...]  # column, data URI, file name


def paint(labels: np.ndarray, palette: tuple[tuple[int, int, int], ...]) -> np.ndarray:
    """A label map in the dataset's colours, void hatched in greys so that it looks like no class."""
    colours = np.array(palette, dtype=np.uint8)[np.maximum(labels, 0)]
    rows, columns = np.indices(labels.shape)
    hatching = np.where((rows + columns) // 2 % 2, *GREYS).astype(np.uint8)
    return np.where((labels < 0)[..., None], hatching[..., None], colours)


def photograph(image: np.ndarray) -> np.ndarray:
    """An image in [0, 1] as 8-bit RGB; other channel counts show their first three, or one as grey."""
    shown = image[:3] if len(image) >= 3 else image[:1].repeat(3, 0)
    return np.round(np.clip(shown, 0, 1) * 255).astype(np.uint8).transpose(1, 2, 0)


def amplification(frame: Frame) -> int:
    """The largest whole factor at which the delta still fits around mid-grey."""
    largest = float(np.abs(frame.perturbed - frame.image).max())
    return max(1, int(0.5 / largest + 1e-3)) if largest > 0 else 1


def pictures(frame: Frame, palette: tuple[tuple[int, int, int], ...]) -> Mapping[str, Image.Image]:
    """The six pictures of a frame by column, at full size."""
    delta = 0.5 + amplification(frame) * (frame.perturbed - frame.image)
    arrays = (
        photograph(frame.image),
        paint(frame.truth, palette),
        paint(frame.clean, palette),
        photograph(frame.perturbed),
        photograph(delta),
        paint(frame.prediction, palette),
    )
    return {column: Image.fromarray(array) for column, array in zip(COLUMNS, arrays, strict=True)}
