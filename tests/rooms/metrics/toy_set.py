"""The toy set on which the mIoUs of the field disagree."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from segstress.metrics import count

VOID = V = 255


class Toy(NamedTuple):
    """Truth as a file holds it, and what a model said."""

    truth: Tensor
    prediction: Tensor
    classes: int = 5  # class 3 is never true, class 4 neither true nor predicted

    def count(self, background: int | None = None) -> Tensor:
        """Counts of the valid pixels, or of the foreground."""
        valid = self.truth != VOID
        zone = valid if background is None else valid & (self.truth != background)
        return count(self.prediction, self.truth.masked_fill(~valid, 0), zone, self.classes)


# Four images: ordinary, one stray pixel of class 3, mostly void, all void.
TRUTH = [
    [[0, 0, 0, 0], [1, 1, 1, V]],
    [[0, 0, 0, 0], [0, 0, 2, 2]],
    [[1, 1, V, V], [V, V, V, V]],
    [[V, V, V, V], [V, V, V, V]],
]
PREDICTION = [
    [[0, 0, 0, 1], [1, 1, 0, 2]],
    [[0, 0, 0, 0], [0, 3, 2, 2]],
    [[1, 0, 0, 0], [2, 2, 3, 3]],
    [[0, 1, 2, 3], [0, 1, 2, 3]],
]


def toy_set() -> Toy:
    """The four images."""
    return Toy(torch.tensor(TRUTH), torch.tensor(PREDICTION))
