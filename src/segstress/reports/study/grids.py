"""Pictures side by side: one image under all attacks, and one attack on several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...results.study import Frame, Study
from ..kit.drawing import Drawing, mosaic
from ..kit.frames import right
from ..kit.naming import in_lines, percent
from ..kit.pictures import Colours, paint, photograph, small_copy
from .assessment import Assessment
from .registry import drawings

WIDTH = 6  # pictures beside each other
Tile = tuple[str, np.ndarray]  # what is written above it, and its pixels


@drawings.register("under-all")
def under_all_attacks(assessment: Assessment) -> Drawing | None:
    """Draw the image that most perturbations have a picture of: perturbed above, predicted below."""
    study = assessment.study
    by_image: dict[str, list[Frame]] = {}
    for frame in study.frames:
        by_image.setdefault(frame.image_id, []).append(frame)
    frames = max(by_image.values(), key=len, default=[])
    if len(frames) < 2:
        return None
    first = frames[0]
    columns = [
        _column("image and truth", first.image, first.truth, study.palette),
        _column(_words("clean", first, first.clean), first.image, first.clean, study.palette),
        *(
            _column(_words(frame.outcome, frame, frame.prediction), frame.perturbed, frame.prediction, study.palette)
            for frame in frames
        ),
    ]
    caption = f"{first.image_id} as each perturbation left it, above the prediction, with the pixels still right."
    return Drawing("under-all", "One image under all of them", caption, mosaic(_wrapped(columns)))


def on_all_models(studies: Sequence[Study]) -> Drawing | None:
    """Draw the perturbation that most pictures show on all models: image and truth, then each model's prediction."""
    shown = [{(frame.outcome, frame.image_id): frame for frame in study.frames} for study in studies]
    common = [key for key in shown[0] if all(key in frames for frames in shown)]
    if not common:
        return None
    labels = [label for label, _ in common]
    label = max(dict.fromkeys(labels), key=labels.count)
    keys = [key for key in common if key[0] == label][:WIDTH]
    first = [shown[0][key] for key in keys]
    rows = [
        [(frame.image_id, _small(photograph(frame.image))) for frame in first],
        [("truth", _map(frame.truth, studies[0].palette)) for frame in first],
    ]
    for study, frames in zip(studies, shown, strict=True):
        own = [frames[key] for key in keys]
        rows.append(
            [(_words(study.model, frame, frame.prediction), _map(frame.prediction, study.palette)) for frame in own]
        )
    at = f" at {studies[0].threat}" if studies[0].threat else ""
    caption = "Run on each model by itself: what the model then predicts, with the pixels still right."
    return Drawing("on-all", f"{label}{at} on every model", caption, mosaic(rows))


def _column(name: str, image: np.ndarray, labels: np.ndarray, colours: Colours) -> tuple[Tile, Tile]:
    return (name, _small(photograph(image))), ("", _map(labels, colours))


def _words(name: str, frame: Frame, prediction: np.ndarray) -> str:
    """Return a name that fits above a picture, and the share of pixels right."""
    return f"{in_lines(name, 24)}\n{percent(right(frame.truth, prediction))} %"


def _map(labels: np.ndarray, colours: Colours) -> np.ndarray:
    return np.asarray(small_copy(paint(labels, colours), smooth=False))


def _small(pixels: np.ndarray) -> np.ndarray:
    return np.asarray(small_copy(pixels, smooth=True))


def _wrapped(columns: Sequence[tuple[Tile, Tile]]) -> list[list[Tile]]:
    """Return columns of two as rows of limited width."""
    rows: list[list[Tile]] = []
    for first in range(0, len(columns), WIDTH):
        above, below = zip(*columns[first : first + WIDTH], strict=True)
        rows += [list(above), list(below)]
    return rows
