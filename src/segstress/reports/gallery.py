"""Pictures of what a perturbation did: image, truth, clean prediction, perturbed image, delta, prediction."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from .naming import slugs
from .study import Frame, Study

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
    factor: int  # by which the delta is amplified
    before: float  # share of valid pixels that are right
    after: float
    pictures: tuple[Picture, ...]

    @property
    def maps(self) -> tuple[np.ndarray, ...]:
        """Its label maps, for the legend."""
        return self.frame.truth, self.frame.clean, self.frame.prediction


def write_gallery(study: Study, name: str, folder: Path) -> list[Strip]:
    """Write every picture of a study and return its rows, one per frame."""
    images, outcomes = ([getattr(frame, key) for frame in study.frames] for key in ("image_id", "outcome"))
    image_names, outcome_names = (_unique_slugs(texts) for texts in (images, outcomes))
    strips = []
    for frame in study.frames:
        pictures = []
        for column, picture in draw(frame, study.palette).items():
            by = "" if column in SHARED else f"-{outcome_names[frame.outcome]}"
            file = f"gallery/{name}-{image_names[frame.image_id]}{by}-{column.replace(' ', '-')}.png"
            picture.save(folder / file, optimize=True)
            pictures.append(Picture(column, file, _uri(picture, lossless=column in MAPS)))
        before, after = (_accuracy(frame.truth, prediction) for prediction in (frame.clean, frame.prediction))
        strips.append(Strip(frame, amplification(frame), before, after, tuple(pictures)))
    return strips


def strongest(strips: list[Strip]) -> list[Strip]:
    """For each image the strip of the perturbation that left the fewest pixels right."""
    best: dict[str, Strip] = {}
    for strip in strips:
        image = strip.frame.image_id
        if image not in best or strip.after < best[image].after:
            best[image] = strip
    return list(best.values())


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


def _accuracy(truth: np.ndarray, prediction: np.ndarray) -> float:
    valid = truth >= 0
    return float((prediction == truth)[valid].mean()) if valid.any() else float("nan")


def _unique_slugs(texts: list[str]) -> dict[str, str]:
    known = list(dict.fromkeys(texts))
    return dict(zip(known, slugs(known), strict=True))


def _uri(picture: Image.Image, *, lossless: bool) -> str:
    """A copy small enough to live in the page; photographs as JPEG, since noise makes a large PNG."""
    copy = picture.copy()
    copy.thumbnail((LONGEST, LONGEST), Image.Resampling.NEAREST if lossless else Image.Resampling.LANCZOS)
    kind, options = ("png", {"optimize": True}) if lossless else ("jpeg", {"quality": 90, "subsampling": 0})
    data = io.BytesIO()
    copy.save(data, kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(data.getvalue()).decode()}"
