"""One image with its labels, as a dataset hands it over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from ..core import Batch
from .reading import Picture


@dataclass(frozen=True)
class Sample:
    """An image at its native size, what is known of its pixels and where it came from."""

    id: str
    image: Float[Tensor, "c h w"]  # in [0, 1]
    labels: Int64[Tensor, "h w"]  # 0 where not valid
    valid: Bool[Tensor, "h w"]  # False on void pixels, and everywhere on unlabelled images
    source: str  # sha256 of the image file; of made data a digest of settings and id
    notes: tuple[str, ...] = ()  # conversions that were made


def stack(samples: Sequence[Sample]) -> Batch:
    """Stack samples of one size to a batch."""
    return Batch(
        ids=tuple(sample.id for sample in samples),
        images=torch.stack([sample.image for sample in samples]),
        labels=torch.stack([sample.labels for sample in samples]),
        valid=torch.stack([sample.valid for sample in samples]),
    )


def by_size(samples: Sequence[Sample], most: int) -> Iterator[list[Sample]]:
    """Yield groups of one size and at most so many, in the order of their first image."""
    groups: dict[tuple[int, ...], list[Sample]] = {}
    for sample in samples:
        groups.setdefault(tuple(sample.image.shape), []).append(sample)
    for group in groups.values():
        yield from (group[first : first + most] for first in range(0, len(group), most))


def unlabelled(id: str, picture: Picture) -> Sample:
    """Make a sample without a valid pixel."""
    size = picture.pixels.shape[1:]
    labels, valid = (
        torch.zeros((), dtype=kind).expand(size) for kind in (torch.int64, torch.bool)
    )  # one value, held once
    return Sample(id, picture.pixels, labels, valid, picture.source, picture.notes)
