"""The counts of all candidates for a worst case, clean first, by goal and zone."""

from __future__ import annotations

import numpy as np

from ...metrics.scores import foreground
from ...results.study import Study


class CandidateCounts:
    """Line up what a study holds. One goal and zone is stacked at a time: all together would double the study."""

    def __init__(self, study: Study, answered: np.ndarray) -> None:
        self._study, self._answered = study, answered
        self._stacked: dict[tuple[str, str], np.ndarray] = {}

    def stack(self, goal: str, zone: str) -> np.ndarray:
        """Return the counts (candidates, images, classes, 3)."""
        if (goal, zone) not in self._stacked:
            self._stacked.clear()  # before the next is made
            stack = np.stack([self.one(goal, zone, number) for number in range(len(self._answered))])
            self._stacked[goal, zone] = stack
        return self._stacked[goal, zone]

    def one(self, goal: str, zone: str, number: int) -> np.ndarray:
        """Return the counts of one candidate; zeros, whose figures are NaN, where zone or answer is missing."""
        study, answered = self._study, self._answered[number]
        if number:
            outcome = study.outcomes[number - 1]
            counts = outcome.counts.get((outcome.for_goal(goal), zone))
        else:
            counts = study.clean.get(zone)
        if counts is None:
            counts = np.zeros((len(study.ids), len(study.classes), 3), dtype=np.int32)
        if counts[~answered].any():
            counts = np.where(answered[:, None, None], counts, 0)
        return counts if zone == "all" or study.background is None else foreground(counts, study.background)
