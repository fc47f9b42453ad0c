"""Pictures of what a perturbation did: image, truth, clean prediction, perturbed image, delta, prediction."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from ...results.study import Frame, Study
from .naming import slugs

Palette = tuple[tuple[int, int, int], ...]

COLUMNS = ("image", "truth", "clean prediction", "perturbed image", "delta", "prediction")
SHARED = COLUMNS[:3]  # the same for every perturbation of an image
MAPS = ("truth", "clean prediction", "prediction")
LONGEST = 256  # side of a picture inside the page, in pixels; the files have full size
GREYS = (118, 170)  # the two stripes of the hatching that stands for void


@dataclass(frozen=True)
class Picture:
    """One picture of a frame: where its file is, and a smaller copy that lives in the page."""

    column: str
    file: str  # relative to the report
    data: str  # URI


@dataclass(frozen=True)
class Strip:
    """One row of the gallery."""

    frame: Frame
    pictures: tuple[Picture, ...]

    @property
    def factor(self) -> int:
        """By which the delta is amplified."""
        return amplification(self.frame)

    @property
    def before(self) -> float:
        """Share of valid pixels that are right in the clean prediction."""
        return right(self.frame.truth, self.frame.clean)

    @property
    def after(self) -> float:
        """Share of valid pixels that are right in the prediction on the perturbed image."""
        return right(self.frame.truth, self.frame.prediction)


def write_gallery(study: Study, name: str, folder: Path) -> list[Strip]:
    """Write the pictures of every frame; return for each image the strip of its most harmful perturbation."""
    images, outcomes = (_names([getattr(frame, key) for frame in study.frames]) for key in ("image_id", "outcome"))
    best = strongest(study.frames)
    strips = {}
    written: set[str] = set()
    for frame in study.frames:
        drawn = draw(frame, study.palette)
        image, outcome = images[frame.image_id], outcomes[frame.outcome]
        files = {column: _file(name, image, "" if column in SHARED else outcome, column) for column in COLUMNS}
        for column, file in files.items():
            if file not in written:
                drawn[column].save(folder / file)
                written.add(file)
        if best[frame.image_id] is frame:
            copies = (Picture(column, files[column], _uri(drawn[column], column in MAPS)) for column in COLUMNS)
            strips[frame.image_id] = Strip(frame, tuple(copies))
    return [strips[image] for image in best]


def strongest(frames: Sequence[Frame]) -> dict[str, Frame]:
    """For each image the frame with the fewest pixels right; of equal ones the first."""
    best: dict[str, Frame] = {}
    for frame in frames:
        known = best.setdefault(frame.image_id, frame)
        if right(frame.truth, frame.prediction) < right(known.truth, known.prediction):
            best[frame.image_id] = frame
    return best


def draw(frame: Frame, palette: Palette) -> dict[str, Image.Image]:
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


def paint(labels: np.ndarray, palette: Palette) -> np.ndarray:
    """A label map in the dataset's colours, void hatched in greys so that it looks like no class."""
    colours = np.array(palette, dtype=np.uint8)[np.maximum(labels, 0)]
    rows, columns = np.indices(labels.shape)
    hatching = np.where((rows + columns) // 2 % 2, *GREYS).astype(np.uint8)
    return np.where((labels < 0)[..., None], hatching[..., None], colours)


def photograph(image: np.ndarray) -> np.ndarray:
    """An image in [0, 1] as 8-bit RGB; of more channels the first three, of fewer the first as grey."""
    shown = image[:3] if len(image) >= 3 else image[:1].repeat(3, 0)
    pixels: np.ndarray = np.round(np.clip(shown, 0, 1) * 255).astype(np.uint8)
    return pixels.transpose(1, 2, 0)


def amplification(frame: Frame) -> int:
    """The largest whole factor at which the delta still fits around mid-grey."""
    largest = float(np.abs(frame.perturbed - frame.image).max())
    return max(1, int(0.5 / largest)) if largest > 0 else 1


def right(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Share of valid pixels that are right; NaN where none is valid."""
    valid = truth >= 0
    return float((prediction == truth)[valid].mean()) if valid.any() else math.nan


def _file(*parts: str) -> str:
    """Joined by two dashes, which no slug has, so that no two pictures share a name."""
    return f"gallery/{'--'.join(part.replace(' ', '-') for part in parts if part)}.png"


def _names(texts: list[str]) -> dict[str, str]:
    known = list(dict.fromkeys(texts))
    return dict(zip(known, slugs(known), strict=True))


def _uri(picture: Image.Image, lossless: bool) -> str:
    """A copy small enough to live in the page; photographs as JPEG, since noise makes a large PNG."""
    copy = picture.copy()
    copy.thumbnail((LONGEST, LONGEST), Image.Resampling.NEAREST if lossless else Image.Resampling.LANCZOS)
    kind, options = ("png", {"optimize": True}) if lossless else ("jpeg", {"quality": 90, "subsampling": 0})
    data = io.BytesIO()
    copy.save(data, kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(data.getvalue()).decode()}"
