"""Pictures of what a perturbation did: image, truth, clean prediction, perturbed image, delta, prediction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ...results.study import Frame, Study
from ..kit.naming import percent, slugs
from ..kit.pictures import Colours, GalleryPicture, Strip, paint, photograph

COLUMNS = ("image", "truth", "clean prediction", "perturbed image", "delta", "prediction")
SHARED = COLUMNS[:3]  # the same for every perturbation of an image
MAPS = ("truth", "clean prediction", "prediction")
STRIPS = 12  # images in the page; the folder has all


def strips(study: Study, name: str) -> Iterator[Strip]:
    """Yield a row for every frame; the page shows of the first images that of the most harmful perturbation."""
    outcomes = _names([frame.outcome for frame in study.frames])
    worst = strongest(study.frames)
    for number, (image, slug) in enumerate(_names(list(worst)).items()):
        for frame in (frame for frame in study.frames if frame.image_id == image):
            files = {
                column: [name, slug, *([] if column in SHARED else [outcomes[frame.outcome]])] for column in COLUMNS
            }
            pictures = (
                GalleryPicture(
                    f"delta, {amplification(frame)} times" if column == "delta" else column,
                    _file(*files[column], column),
                    partial(draw, frame, column, study.palette),
                    photograph=column not in MAPS,
                )
                for column in COLUMNS
            )
            yield Strip(image, _words(frame), tuple(pictures), shown=frame is worst[image] and number < STRIPS)


def _words(frame: Frame) -> str:
    before, after = (percent(right(frame.truth, labels)) for labels in (frame.clean, frame.prediction))
    return f"under {frame.outcome}: {before} % right, then {after} %"


def strongest(frames: Sequence[Frame]) -> dict[str, Frame]:
    """Find for each image the frame with the fewest pixels right; of equal ones the first."""
    worst: dict[str, Frame] = {}
    for frame in frames:
        so_far = worst.setdefault(frame.image_id, frame)
        if right(frame.truth, frame.prediction) < right(so_far.truth, so_far.prediction):
            worst[frame.image_id] = frame
    return worst


def draw(frame: Frame, column: str, colours: Colours) -> np.ndarray:
    """Draw one of the six pictures of a frame, at full size."""
    if column == "delta":
        return photograph(0.5 + amplification(frame) * (frame.perturbed - frame.image))
    if column in MAPS:
        labels = {"truth": frame.truth, "clean prediction": frame.clean, "prediction": frame.prediction}[column]
        return paint(labels, colours)
    return photograph(frame.image if column == "image" else frame.perturbed)


def amplification(frame: Frame) -> int:
    """Return the largest whole factor at which the delta still fits around mid-grey."""
    largest = float(np.abs(frame.perturbed - frame.image).max())
    return max(1, int(0.5 / largest)) if largest > 0 else 1


def right(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Return the share of valid pixels that are right; NaN where none is valid."""
    valid = truth >= 0
    return float((prediction == truth)[valid].mean()) if valid.any() else math.nan


def _file(*parts: str) -> str:
    """Join by two dashes, which no slug has, so that no two pictures share a name."""
    return f"gallery/{'--'.join(part.replace(' ', '-') for part in parts)}.png"


def _names(texts: list[str]) -> dict[str, str]:
    different = list(dict.fromkeys(texts))
    return dict(zip(different, slugs(different), strict=True))
