"""What a run has found up to now, for its progress line: the worst case over images that were answered in this call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..core import Perturbation, perturbations
from ..runtime import Cell


class Left(NamedTuple):
    """What one answer left of an image."""

    names: tuple[str, str]  # model, data
    image: str
    correct: int
    valid: int


def left_by(cell: Cell, rows: Iterable[Mapping[str, Any]]) -> list[Left]:
    """Return what a cell left of its images, if wrong pixels are what its perturbation is after."""
    if not harms(perturbations.build(cell.perturbation)):
        return []
    names = (cell.names["model"], cell.names["data"])
    return [Left(names, row["image"], row["correct"], row["valid"]) for row in rows if row["status"] == "ok"]


class WorstSoFar:
    """The fewest correct pixels of every image, by model and dataset; sums are kept, so an answer is one addition."""

    def __init__(self) -> None:
        self._fewest: dict[tuple[str, str], dict[str, int]] = {}
        self._sums: dict[tuple[str, str], tuple[int, int]] = {}  # correct and valid pixels

    def add(self, answers: Iterable[Left]) -> str:
        """Take answers in, and say what their model and dataset have come to."""
        words = ""
        for answer in answers:
            images = self._fewest.setdefault(answer.names, {})
            correct, valid = self._sums.get(answer.names, (0, 0))
            before = images.get(answer.image)
            images[answer.image] = fewest = answer.correct if before is None else min(before, answer.correct)
            correct += fewest - (before or 0)
            valid += answer.valid if before is None else 0
            self._sums[answer.names] = correct, valid
            words = f"worst case so far {100 * correct / max(valid, 1):.1f} % of {len(images)} images"
        return words


def harms(change: Perturbation) -> bool:
    """Tell whether wrong pixels are all that it is after: not a smaller delta, nor a prediction of its own choice."""
    if change.parts:
        return False  # no single image is as wrong as all its parts together
    return change.threat is None or (math.isfinite(change.threat.radius) and change.threat.target is None)
