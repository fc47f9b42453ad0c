"""Damage to part of an image: what is left inside the part, outside of it, and how that compares with clean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..metrics import metrics
from ..metrics.counts import ACTUAL
from ..metrics.scores import left_out, rce

FIGURES = ("accuracy_image_mean", "accuracy", "mean_accuracy", "cmiou")
HEADLINE = "mean_accuracy"  # the figure of the paper's table 1


@dataclass(frozen=True, eq=False)
class Spot:
    """One perturbation of one model, counted zone by zone."""

    model: str
    data: str
    what: str  # the corruption, or the attack
    severity: float  # of the corruption; of an attack its radius
    steps: int  # of an attack; 0 for corruptions
    region: str  # empty = the whole image
    ratio: float  # share of the patches that the region was asked to hold; NaN where it is none of patches
    corner: tuple[int, int] | None  # top and left of a rectangle in a given place
    goal: str
    clean: Mapping[str, np.ndarray]  # zone -> (images, classes, 3)
    perturbed: Mapping[str, np.ndarray]

    def score(self, figure: str, zone: str, state: str = "perturbed") -> float:
        """A figure in a zone; NaN where no image has a pixel there."""
        counts = (self.clean if state == "clean" else self.perturbed).get(zone)
        return math.nan if counts is None else float(metrics.get(figure)(counts))

    def rce(self, figure: str, zone: str) -> float:
        """The share of the clean figure that is lost, both in the same zone."""
        return rce(self.score(figure, zone, "clean"), self.score(figure, zone))

    def share(self) -> float:
        """Share of the valid pixels that lie inside; NaN where there is no region."""
        if not self.region:
            return math.nan
        inside = self.clean["inside"][..., ACTUAL].sum() if "inside" in self.clean else 0
        return float(inside / self.clean["all"][..., ACTUAL].sum())

    def spread(self, figure: str) -> float:
        """Damage outside over damage inside, both weighed by their area; NaN without damage inside."""
        inside = self.rce(figure, "inside") * self.share()
        return self.rce(figure, "outside") * (1 - self.share()) / inside if inside else math.nan

    def empty(self, zone: str) -> int:
        """Number of images without a pixel in the zone: left out of its figures."""
        if not self.region:
            return 0
        counts = self.clean.get(zone)
        return len(self.clean["all"]) if counts is None else left_out(counts)


def known_mean(values: Iterable[float]) -> float:
    """The mean of the values that are not NaN; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
