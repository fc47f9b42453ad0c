"""Who breaks whom: aggressiveness and resistance of every pair on the images that were selected for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Scored:
    """Every membership with the quality of its two models; an image counts in every subset that it was chosen for."""

    models: int
    images: Int64[np.ndarray, " members"]  # place of the image among the distinct ones
    defenders: Int64[np.ndarray, " members"]
    attackers: Int64[np.ndarray, " members"]
    classes: Int64[np.ndarray, " members"]
    defended: Float64[np.ndarray, " members"]  # quality of the defender on the image, in [0, 1]
    attacked: Float64[np.ndarray, " members"]  # quality of the attacker

    @property
    def distinct(self) -> int:
        """Number of different images."""
        return int(self.images.max()) + 1 if len(self.images) else 0

    def without_class(self, class_: int) -> Scored:
        """Return the same without the subsets of one class."""
        keep = self.classes != class_
        arrays = (
            array[keep]
            for array in (self.images, self.defenders, self.attackers, self.classes, self.defended, self.attacked)
        )
        return Scored(self.models, *arrays)


@dataclass(frozen=True)
class Performance:
    """Quality of both models on S_ij (defender i, attacker j), mean over classes; NaN where it is empty."""

    defender: Float64[np.ndarray, "*draws models models"]
    attacker: Float64[np.ndarray, "*draws models models"]


def add_up(columns: np.ndarray, size: int) -> csr_array:
    """Return a matrix that adds up the entries which share an index."""
    return csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)), shape=(len(columns), size))


def performance(scored: Scored, weights: Float64[np.ndarray, "draws images"] | None = None) -> Performance:
    """Average over the images of each class, then over classes that have any; weights give one result per draw."""
    drawn = np.ones((1, scored.distinct)) if weights is None else weights
    pairs = scored.defenders * scored.models + scored.attackers
    keys, group = np.unique(np.stack([pairs, scored.classes]), axis=1, return_inverse=True)
    to_group = add_up(group, keys.shape[1])
    to_pair = add_up(keys[0], scored.models**2)
    drawn_rows = drawn[:, scored.images]
    present = drawn_rows @ to_group
    filled = present > 0
    shown = filled @ to_pair
    means = []
    for quality in (scored.defended, scored.attacked):
        of_class = (drawn_rows * quality) @ to_group / np.where(filled, present, 1)
        of_pair = np.where(shown > 0, (of_class @ to_pair) / np.where(shown > 0, shown, 1), np.nan)
        means.append(of_pair.reshape(-1, scored.models, scored.models))
    defender, attacker = (mean[0] if weights is None else mean for mean in means)
    return Performance(defender, attacker)


def aggressiveness(mean_quality: Performance, smooth: float = 1e-3) -> Float64[np.ndarray, "*draws models models"]:
    """Tell how much better the row's model is than the column's on the images on which it attacks that one."""
    return _with_diagonal(np.swapaxes((mean_quality.attacker + smooth) / (mean_quality.defender + smooth), -1, -2))


def resistance(mean_quality: Performance, smooth: float = 1e-3) -> Float64[np.ndarray, "*draws models models"]:
    """Tell how much better the row's model is than the column's on the images on which it defends against that one."""
    return _with_diagonal((mean_quality.defender + smooth) / (mean_quality.attacker + smooth))


def coverage(scored: Scored) -> tuple[Int64[np.ndarray, "models models"], Int64[np.ndarray, "models models"]]:
    """Count the classes and the images of every subset S_ij."""
    shape = (scored.models, scored.models)
    triples = np.unique(np.stack([scored.defenders, scored.attackers, scored.classes]), axis=1)
    pictures = np.unique(np.stack([scored.defenders, scored.attackers, scored.images]), axis=1)
    classes, images = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    np.add.at(classes, (triples[0], triples[1]), 1)
    np.add.at(images, (pictures[0], pictures[1]), 1)
    return classes, images


def _with_diagonal(ratios: np.ndarray) -> np.ndarray:
    own: Bool[np.ndarray, "models models"] = np.eye(ratios.shape[-1], dtype=bool)
    return np.where(own, 1.0, ratios)
