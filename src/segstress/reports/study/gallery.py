"""Pictures of what a perturbation did: image, truth, predictions, delta, errors; and the names of their files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ...results.study import Frame, Study
from ..kit.naming import percent, slugs
from ..kit.pictures import Colours, GalleryPicture, Strip, paint, photograph

COLUMNS = ("image", "truth", "clean prediction", "perturbed image", "delta", "prediction", "error map")
SHARED = COLUMNS[:3]  # the same for every perturbation of an image
MAPS = ("truth", "clean prediction", "prediction", "error map")
STRIPS = 4  # images in a study's own part of the page; the gallery shows all
RIGHT, LOST, WRONG = (232, 235, 239), (201, 81, 47), (227, 166, 145)  # right; wrong now; wrong on the clean image too


@dataclass(frozen=True, eq=False)
class FrameFiles:
    """Names of the pictures of a study; its catalogue tells them to the page's script."""

    study: Study
    name: str  # of the study's part of the page

    @cached_property
    def images(self) -> dict[str, str]:
        """The name of each image that has pictures."""
        return _names([frame.image_id for frame in self.study.frames])

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """The name of each perturbation that has pictures."""
        return _names([frame.outcome for frame in self.study.frames])

    def file(self, frame: Frame, column: str) -> str:
        """Join by two dashes, which no name has, so that no two pictures share a file."""
        own = [] if column in SHARED else [self.outcomes[frame.outcome]]
        parts = [self.name, self.images[frame.image_id], *own, column.replace(" ", "-")]
        return f"gallery/{'--'.join(parts)}.png"


def strips(study: Study, name: str) -> Iterator[Strip]:
    """Yield a row for every frame; the page shows of the first images that of the most harmful perturbation."""
    files, worst = FrameFiles(study, name), strongest(study.frames)
    for number, image in enumerate(files.images):
        for frame in (frame for frame in study.frames if frame.image_id == image):
            pictures = (
                GalleryPicture(
                    f"delta, {amplification(frame)} times" if column == "delta" else column,
                    files.file(frame, column),
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
    """Draw one of the pictures of a frame, at full size."""
    if column == "delta":
        return photograph(0.5 + amplification(frame) * (frame.perturbed - frame.image))
    if column == "error map":
        return paint(errors(frame), (RIGHT, LOST, WRONG))
    if column in MAPS:
        labels = {"truth": frame.truth, "clean prediction": frame.clean, "prediction": frame.prediction}[column]
        return paint(labels, colours)
    return photograph(frame.image if column == "image" else frame.perturbed)


def errors(frame: Frame) -> np.ndarray:
    """Map each pixel: 0 right, 1 wrong by the perturbation, 2 wrong on the clean image too, -1 void."""
    wrong, before = frame.prediction != frame.truth, frame.clean != frame.truth
    return np.where(frame.truth < 0, -1, np.where(wrong, np.where(before, 2, 1), 0))


def amplification(frame: Frame) -> int:
    """Return the largest whole factor at which the delta still fits around mid-grey."""
    largest = float(np.abs(frame.perturbed - frame.image).max())
    return max(1, int(0.5 / largest)) if largest > 0 else 1


def right(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Return the share of valid pixels that are right; NaN where none is valid."""
    valid = truth >= 0
    return float((prediction == truth)[valid].mean()) if valid.any() else math.nan


def _names(texts: list[str]) -> dict[str, str]:
    different = list(dict.fromkeys(texts))
    return dict(zip(different, slugs(different), strict=True))
