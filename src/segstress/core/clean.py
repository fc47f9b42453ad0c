"""The perturbation that does nothing: every other is measured against it."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn

from .batch import Batch
from .configuration import settings
from .types import Perturbed, Result, Stage, perturbations


@perturbations.register("clean")
@settings
class Clean:
    """The images as they are."""

    name: ClassVar[str] = "clean"
    label: ClassVar[str] = "clean"
    about: ClassVar[str] = ""
    threat: ClassVar[None] = None
    region: ClassVar[None] = None
    stage: ClassVar[Stage] = "network"
    parts: ClassVar[str] = ""
    channels: ClassVar[None] = None
    curve_point: ClassVar[None] = None

    def passes(self) -> tuple[int, int]:
        """Count none."""
        return 0, 0

    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """Return the batch itself, at no cost."""
        nothing = torch.zeros(len(batch), dtype=torch.int64)
        size = torch.zeros(len(batch), dtype=batch.images.dtype)
        return Perturbed(results=(Result("any", batch.images, size),), forwards=nothing, backwards=nothing)
