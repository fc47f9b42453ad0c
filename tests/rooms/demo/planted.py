"""Evidence that was never measured: models of which as much is right, clean and attacked, as a test wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
from tests.rooms.reports import sample_study

from segstress.demo.claims import Evidence, claims
from segstress.reports.findings.page import Answer
from segstress.reports.study.assessment import Assessment, assess
from segstress.results.study import Study

IMAGES = 12
TRUTH = np.array([[600, 400]])  # pixels of the background and of objects, in each image
ATTACKS = ("pgd", "segpgd", "fgsm")
UNEVEN = np.where(np.arange(IMAGES) % 2, 1.0, -1.0)[:, None]  # image by image; its mean is 0


class Planted(Evidence):
    """Evidence by the names of its needs; smallest changes and damage to parts as one claim has them."""

    def __init__(self, assessments=None, minimal=(), local=(), ranking=None) -> None:
        self._found = SimpleNamespace(
            assessments=assessments, minimal=list(minimal), local=list(local), ranking=ranking
        )

    def assessments(self, need):
        return self._found.assessments[need.name]

    def minimal(self, need):
        return self._found.minimal

    def local(self, need):
        return self._found.local

    def ranking(self, need):
        return self._found.ranking[need.name]


def judge(name: str, **planted) -> Answer:
    """What a claim says of planted evidence."""
    return claims.build(name).answer(Planted(**planted))


def verdicts(name: str, **planted) -> list[bool]:
    """Which of its checks hold."""
    return [check.holds for check in judge(name, **planted).checks]


def fallen(holds: Sequence[bool]) -> set[int]:
    """Which do not, by number."""
    return {number for number, held in enumerate(holds) if not held}


@cache
def _blank() -> Study:
    """Images, and one outcome, whose counts are to be told."""
    study = sample_study.study(images=IMAGES)
    return replace(study, classes=("background", "disc"), outcomes=study.outcomes[:1], frames=())


def _tables(right, truth: np.ndarray) -> dict[str, np.ndarray]:
    """The counts by zone; what is not right of one class is said to be the other."""
    hits = np.round(truth * np.broadcast_to(right, (IMAGES, 2))).astype(int)
    zones = {"all": (hits, truth + 0 * hits), "foreground": (hits * [0, 1], (truth + 0 * hits) * [0, 1])}
    return {
        zone: np.stack([inside, inside + (actual - inside)[:, ::-1], actual], axis=-1)
        for zone, (inside, actual) in zones.items()
    }


def made(clean=1.0, *attacked, truth: np.ndarray = TRUTH) -> Assessment:
    """A model by the shares of pixels right, of all or (images, classes): clean, and under each attack."""
    blank = _blank()
    outcomes = []
    for label, right in zip(ATTACKS, attacked, strict=False):
        tables = _tables(right, truth)
        counts = {(goal, zone): table for goal in sample_study.GOALS for zone, table in tables.items()}
        outcomes.append(replace(blank.outcomes[0], label=label, counts=counts))
    return assess(replace(blank, clean=_tables(clean, truth), outcomes=tuple(outcomes)))
