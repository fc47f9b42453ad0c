"""What a perturbation did to one image, as pictures: maps, the amplified delta, the errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...results.study import Frame
from .pictures import Colours, GalleryPicture, paint, photograph

MAPS = ("truth", "clean prediction", "prediction", "error map")
RIGHT, LOST, WRONG = (232, 235, 239), (201, 81, 47), (227, 166, 145)  # right; wrong now; wrong on the clean image too


def pictures(
    frame: Frame, columns: Sequence[str], colours: Colours, file: Callable[[str], str]
) -> tuple[GalleryPicture, ...]:
    """Return the pictures of a frame, one for each column, in the files that are named for them."""
    return tuple(
        GalleryPicture(
            f"delta, {amplification(frame)} times" if column == "delta" else column,
            file(column),
            partial(draw, frame, column, colours),
            photograph=column not in MAPS,
        )
        for column in columns
    )


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
