"""Figures of parts that were attacked one by one: objects lost and erased, pixels that stand by themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...metrics.counts import ACTUAL, HITS
from ...metrics.intervals import SHARE, Interval, interval_of
from ...metrics.objects import size_groups
from ...results.study import Floor
from .assessment import Assessment

UNKNOWN = Interval(math.nan, math.nan, math.nan)
STATES = {"clean": "clean", "joint": "joint worst case", "alone": "alone"}
FATES = {"lost": "under half of its pixels right", "erased": "none of its pixels right"}


@dataclass(frozen=True, eq=False)
class ObjectFates:
    """What became of the objects of the images in which each was attacked alone; one entry per object."""

    image: np.ndarray  # number of its image among those
    images: int
    klass: np.ndarray
    area: np.ndarray
    correct: dict[str, np.ndarray]  # state -> pixels right; joint only where there was a joint attack

    def fallen(self, fate: str, state: str) -> np.ndarray:
        """Tell which objects are lost or erased."""
        right = self.correct[state]
        fell: np.ndarray = 2 * right < self.area if fate == "lost" else right == 0
        return fell

    def share(self, fate: str, state: str, among: np.ndarray | None = None) -> Interval:
        """Return the share of the objects, or of some of them, with an interval over images."""
        if state not in self.correct:
            return UNKNOWN
        among = np.ones(len(self.image), dtype=bool) if among is None else among
        return clustered(self._count(among & self.fallen(fate, state)), self._count(among))

    def sizes(self) -> Iterator[np.ndarray]:
        """Yield groups of growing area, a tenth of the objects each."""
        group = size_groups(self.area) if len(self.area) else np.array([], dtype=np.int64)
        yield from (group == number for number in np.unique(group))

    def _count(self, among: np.ndarray) -> np.ndarray:
        return np.bincount(self.image[among], minlength=self.images)


def clustered(some: np.ndarray, whole: np.ndarray) -> Interval:
    """Return a share whose parts come in images, which are drawn as a whole; unknown where there is nothing."""
    if not whole.sum():
        return UNKNOWN

    def share(weights: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # a draw may hold only images without any
            drawn: np.ndarray = (weights @ some) / (weights @ whole)
            return drawn

    return interval_of(share, len(whole), within=SHARE)


def attacked_alone(assessment: Assessment, parts: str) -> Floor | None:
    """Return what was attacked part by part, the last where there are several."""
    return next((alone for alone in reversed(assessment.study.alone) if alone.parts == parts), None)


def object_fates(assessment: Assessment) -> ObjectFates | None:
    """Return the objects of the images that have an answer; nothing where objects were not attacked alone."""
    alone, objects = attacked_alone(assessment, "objects"), assessment.study.objects
    if alone is None:
        return None
    answered = assessment.answered[0] & alone.outcome.answered
    known = answered[objects.image]
    correct = {"clean": objects.clean[known], "alone": objects.correct[alone.outcome.label][known]}
    if assessment.study.outcomes:
        correct["joint"] = assessment.worst_objects()[known]
    positions = np.cumsum(answered) - 1
    return ObjectFates(
        positions[objects.image[known]], int(answered.sum()), objects.klass[known], objects.area[known], correct
    )


def pixel_shares(assessment: Assessment) -> dict[str, Interval] | None:
    """Return pixels right: those drawn, clean and each attacked alone; beside them all in the joint worst case.

    As many are drawn of every image; each counts for its share of the image's pixels, as it does in accuracy."""
    alone = attacked_alone(assessment, "pixels")
    if alone is None:
        return None
    outcome, nothing = (
        alone.outcome,
        np.zeros((len(assessment.study.ids), len(assessment.study.classes), 3), dtype=np.int64),
    )
    answered = assessment.answered[0] & outcome.answered
    counts = {
        "clean": outcome.clean.get("sampled", nothing),
        "joint": assessment.worst["accuracy"].counts,
        "alone": outcome.counts.get(("any", "sampled"), nothing),
    }
    if not assessment.study.outcomes:
        del counts["joint"]
    valid = assessment.candidate("accuracy")[answered, :, ACTUAL].sum(1)
    totals = {state: table[answered].sum(1) for state, table in counts.items()}
    weights = {state: valid / np.maximum(total[:, ACTUAL], 1) for state, total in totals.items()}
    return {
        state: clustered(weights[state] * total[:, HITS], weights[state] * total[:, ACTUAL])
        for state, total in totals.items()
    }
