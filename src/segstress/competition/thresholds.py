"""At which sizes a class counts in the competition: its share of the image between two bounds, both inclusive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int64, Shaped

from ..core import BadInput
from .discrepancy import void_of

QUARTILES = (25, 75)
BINS = 10_000  # the pool's quartiles are known to this part of the image


@dataclass(frozen=True)
class Bounds:
    """The least and the largest share of each class in the defender's map."""

    low: Float64[np.ndarray, "models classes"]
    high: Float64[np.ndarray, "models classes"]


def any_size(models: int, classes: int) -> Bounds:
    """Return no bounds at all."""
    return Bounds(np.zeros((models, classes)), np.ones((models, classes)))


def from_table(table: Mapping[str, Sequence[float]], classes: Sequence[str], models: int) -> Bounds:
    """Read bounds written down by class name; a class that the table leaves out has none."""
    unknown = [name for name in table if name not in classes]
    if unknown:
        raise BadInput(f"scale table: unknown class '{unknown[0]}'; the classes are {', '.join(classes)}")
    low, high = np.zeros(len(classes)), np.ones(len(classes))
    for name, pair in table.items():
        class_ = list(classes).index(name)
        if len(pair) != 2 or not 0 <= pair[0] <= pair[1] <= 1:
            raise BadInput(f"scale table: {name}: expected two shares, low before high, in [0, 1], found {list(pair)}")
        low[class_], high[class_] = pair
    return Bounds(np.tile(low, (models, 1)), np.tile(high, (models, 1)))


def from_masks(masks: Iterable[Shaped[np.ndarray, "h w"]], classes: int, models: int) -> Bounds:
    """Return quartiles of each class over the training masks that show it, void left out of the image's size."""
    shares_of: list[list[float]] = [[] for _ in range(classes)]
    for mask in masks:
        pixels = np.bincount(mask[mask != void_of(mask)], minlength=classes)
        for class_ in np.flatnonzero(pixels):
            shares_of[class_].append(pixels[class_] / pixels.sum())
    pairs = np.array([np.percentile(shares, QUARTILES) if shares else (0, 1) for shares in shares_of])
    return Bounds(np.tile(pairs[:, 0], (models, 1)), np.tile(pairs[:, 1], (models, 1)))


class PoolShares:
    """How often each share occurs in the models' own maps of the pool: bounded memory, shards in any order."""

    def __init__(self, models: int, classes: int) -> None:
        self.tally: Int64[np.ndarray, "models classes bins"] = np.zeros((models, classes, BINS + 1), dtype=np.int64)

    def add(self, shares: Float[np.ndarray, "images models classes"]) -> None:
        """Count the images of one shard; shares of 0 and NaN do not count."""
        shown = np.nan_to_num(shares) > 0
        _, model, class_ = np.nonzero(shown)
        np.add.at(self.tally, (model, class_, np.rint(shares[shown] * BINS).astype(np.int64)), 1)

    def bounds(self) -> Bounds:
        """Return quartiles by nearest rank of each defender and class; none where a class never occurs."""
        reached = self.tally.cumsum(-1)
        total = reached[..., -1:]
        low, high = (((100 * reached >= part * total).argmax(-1) / BINS) for part in QUARTILES)
        half = 0.5 / BINS  # a bin holds the shares that round to it
        absent = total[..., 0] == 0
        return Bounds(np.where(absent, 0, low - half), np.where(absent, 1, high + half))
