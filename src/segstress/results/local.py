"""Damage to part of an image: what is left inside the part, outside of it, and how that compares with clean."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core import Region, format_radius
from ..core.regions.rectangles import Box, Given, Patches
from ..metrics import metrics
from ..metrics.counts import ACTUAL
from ..metrics.intervals import SHARE, Interval, difference, interval, interval_of
from ..metrics.scores import left_out, rce
from .study import Frame

FIGURES = ("accuracy_image_mean", "accuracy", "mean_accuracy", "cmiou")
UNKNOWN = (math.nan, math.nan)  # the bounds of what has none
NOTHING = Interval(math.nan, *UNKNOWN)
LOSS = (-math.inf, SHARE[1])  # where a relative loss lies
HEADLINE = "mean_accuracy"  # the figure of the paper's table 1


@dataclass(frozen=True, eq=False)
class LocalResult:
    """One perturbation of one model, counted zone by zone."""

    model: str
    data: str
    what: str  # the corruption, or the attack
    severity: float  # of the corruption; of an attack its radius
    steps: int  # of an attack; 0 for corruptions
    number: int  # of attacks, each on what still stands; 0 where it is none of several
    region: str  # its name; empty = the whole image
    shape: Region | None  # what was asked for; none = the whole image, or wherever a local effect fell
    goal: str
    clean: Mapping[str, np.ndarray]  # zone -> (images, classes, 3)
    perturbed: Mapping[str, np.ndarray]
    ids: tuple[str, ...] = ()  # of the images, in the order of the counts
    wanted: Mapping[str, np.ndarray] = field(default_factory=dict)  # zone -> perturbed against a target, if it has one
    wanted_clean: Mapping[str, np.ndarray] = field(default_factory=dict)  # zone -> clean against that target

    @property
    def together(self) -> int:
        """How many attacks share this result; 0 where it is that of one alone."""
        return int(self.goal.removeprefix("cumulative-")) if self.goal.startswith("cumulative-") else 0

    @property
    def final(self) -> bool:
        """Whether it is what all of several attacks have fooled together."""
        return 0 < self.together == self.number

    @property
    def natural(self) -> bool:
        """Whether it is a corruption; an attack that keeps its last iterate has one result too, with the same goal."""
        return self.goal == "any" and not self.steps

    @property
    def ratio(self) -> float:
        """Share of the patches that were to be damaged; NaN where the region is none of patches."""
        return self.shape.ratio if isinstance(self.shape, Patches) else math.nan

    @property
    def corner(self) -> tuple[int, int] | None:
        """Top and left of a rectangle in a given place."""
        return (self.shape.top, self.shape.left) if isinstance(self.shape, Given) else None

    @property
    def position(self) -> str:
        """Where a box was: centre, top-left ...; empty where the region is none."""
        return self.shape.position if isinstance(self.shape, Box) else ""

    @property
    def side(self) -> float:
        """Side in pixels of a square box; NaN where the region is none."""
        if isinstance(self.shape, Box) and self.shape.height == self.shape.width:
            return float(self.shape.height)
        return math.nan

    @property
    def where(self) -> str:
        """The region in a few words."""
        if isinstance(self.shape, Patches):
            mask = f", mask {self.shape.draw + 1}" if self.shape.draw else ""
            chance = " by chance" if self.shape.mode == "bernoulli" else ""
            return f"{self.ratio:g} of patches of {self.shape.size} px{chance}{mask}"
        return f"{self.side:g} px {self.position}" if self.side > 0 else self.region or "everywhere"

    @property
    def strength(self) -> str:
        """Severity of a corruption, radius of an attack, as people write them."""
        return format_radius(self.severity) if self.steps else f"{self.severity:g}"

    def score(self, figure: str, zone: str, state: str = "perturbed") -> float:
        """Return a figure in a zone; NaN where no image has a pixel there."""
        counts = self.counts(zone, state)
        return math.nan if counts is None else float(metrics.get(figure)(counts))

    def counts(self, zone: str, state: str = "perturbed") -> np.ndarray | None:
        """Return the counts of all images in a zone, where they have any."""
        states = {
            "clean": self.clean,
            "perturbed": self.perturbed,
            "wanted": self.wanted,
            "wanted_clean": self.wanted_clean,
        }
        return states[state].get(zone)

    def rce(self, figure: str, zone: str) -> float:
        """Return the share of the clean figure that is lost, both in the same zone."""
        return rce(self.score(figure, zone, "clean"), self.score(figure, zone))

    def score_interval(self, figure: str, zone: str, state: str = "perturbed") -> Interval:
        """Return a figure in a zone with its interval over images."""
        counts = self.counts(zone, state)
        return NOTHING if counts is None else interval(counts, metrics.get(figure))

    def rce_interval(self, figure: str, zone: str) -> Interval:
        """Return the share that is lost with its interval: clean and perturbed are weighed by the same images."""
        return mean_rce([self], figure, zone)

    def lost(self, figure: str, zone: str, weights: np.ndarray) -> np.ndarray:
        """Return the share that is lost under each draw of images."""
        metric = metrics.get(figure)
        lost: np.ndarray = 1 - metric(self.perturbed[zone], weights=weights) / metric(self.clean[zone], weights=weights)
        return lost

    def share(self) -> float:
        """Return the share of the valid pixels that lie inside; NaN where there is no region."""
        if not self.region:
            return math.nan
        inside = self.clean["inside"][..., ACTUAL].sum() if "inside" in self.clean else 0
        valid = self.clean["all"][..., ACTUAL].sum()
        return float(inside / valid) if valid else math.nan

    def spread(self, figure: str) -> Interval:
        """Divide damage outside by damage inside, both weighed by their area; NaN without damage inside."""
        if not {"inside", "outside"} <= self.clean.keys():
            return NOTHING

        actual = {zone: self.clean[zone][..., ACTUAL].sum(1) for zone in ("inside", "outside")}

        def ratio(weights: np.ndarray) -> np.ndarray:
            areas = {zone: weights @ pixels for zone, pixels in actual.items()}
            damage = {
                zone: np.where(area > 0, self.lost(figure, zone, weights) * area, 0) for zone, area in areas.items()
            }
            measured = np.isfinite(damage["inside"]) & (damage["inside"] != 0)
            return np.where(measured, damage["outside"] / damage["inside"], np.nan)

        spread = interval_of(ratio, len(self.clean["all"]))
        return spread if math.isfinite(spread.high - spread.low) else Interval(spread.value, *UNKNOWN)

    def gain(self, other: LocalResult, figure: str, zone: str) -> Interval:
        """Return by how much a figure is higher here than in another result of the same images, with its interval."""
        first, second = self.counts(zone), other.counts(zone)
        return NOTHING if first is None or second is None else difference(first, second, metrics.get(figure))

    def empty(self, zone: str) -> int:
        """Count images without a pixel in the zone: left out of its figures."""
        if not self.region:
            return 0
        counts = self.clean.get(zone)
        return len(self.clean["all"]) if counts is None else left_out(counts)


@dataclass(frozen=True, eq=False)
class ModelFrames:
    """One perturbed image and what every model made of it."""

    image: str
    outcome: str
    frames: Mapping[str, Frame]  # model -> what it saw
    palette: tuple[tuple[int, int, int], ...]
    classes: tuple[str, ...]


def mean_rce(results: Sequence[LocalResult], figure: str, zone: str) -> Interval:
    """Return the mean of what several results lost, with its interval."""
    return _mean(results, zone, lambda result: result.rce(figure, zone), lambda r, w: r.lost(figure, zone, w), LOSS)


def mean_score(results: Sequence[LocalResult], figure: str, zone: str) -> Interval:
    """Return the mean of a figure over several results, with its interval."""
    metric = metrics.get(figure)
    return _mean(
        results,
        zone,
        lambda result: result.score(figure, zone),
        lambda result, weights: metric(result.perturbed[zone], weights=weights),
        SHARE,
    )


def _mean(
    results: Sequence[LocalResult],
    zone: str,
    value: Callable[[LocalResult], float],
    drawn: Callable[[LocalResult, np.ndarray], np.ndarray],
    within: tuple[float, float],
) -> Interval:
    """Average over results, all weighed by the same images; those without a pixel in the zone are left out.

    Where the images differ, as of several datasets, there are no bounds: the mean alone is known."""
    known = [result for result in results if not math.isnan(value(result))]
    if not of_same_images(known):
        return Interval(known_mean(map(value, known)), *UNKNOWN)

    def mean(weights: np.ndarray) -> np.ndarray:
        average: np.ndarray = np.mean([drawn(result, weights) for result in known], axis=0)
        return average

    return interval_of(mean, len(known[0].clean[zone]), within=within)


def of_same_images(results: Iterable[LocalResult]) -> bool:
    """Tell whether all are of the same images, so that they can be weighed alike; false without any."""
    return len({(result.data, result.ids, len(result.clean["all"])) for result in results}) == 1


def known_mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
