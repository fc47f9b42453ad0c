"""What a page says of the run that it was made from: models, data, numerics, versions, its seal and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RunRecord:
    """What a page says of the run that it was made from."""

    sources: tuple[Mapping[str, str], ...]  # of each model and dataset
    images: int  # asked for, over all datasets
    forwards: int
    backwards: int
    seal: str  # empty = none, or it does not hold
