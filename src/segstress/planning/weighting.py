"""Class weights of balanced attacks, counted on a training split."""

from __future__ import annotations

from functools import cache

import torch

from ..core import BadImage, BadInput
from ..data import load


@cache
def class_weights(data: str) -> tuple[float, ...]:
    """Return one over the pixels of each class in a dataset, scaled to sum to one; 0 for a class that it lacks."""
    dataset = load(data)
    pixels = torch.zeros(len(dataset.classes), dtype=torch.float64)
    for id_ in dataset.ids():
        try:
            sample = dataset.read(id_)
        except BadImage:
            continue  # what cannot be read cannot weigh
        pixels += torch.bincount(sample.labels[sample.valid], minlength=len(pixels))
    if not pixels.any():
        raise BadInput(f"weights: expected a labelled dataset, found no valid pixel in '{data}'")
    rarity = torch.where(pixels > 0, 1 / pixels.clamp(min=1), 0)
    return tuple(float(f"{share:.6g}") for share in (rarity / rarity.sum()).tolist())
