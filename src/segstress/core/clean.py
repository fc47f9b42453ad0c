"""The perturbation that does nothing: every other is measured against it."""

from __future__ import annotations

import torch
from torch import nn

from .batch import Batch
from .settings import settings
from .types import Perturbed, Result, perturbations


@perturbations.register("clean")
@settings
class Clean:
    """The images as they are."""

    @property
    def label(self) -> str:
        """Its name in tables."""
        return "clean"

    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """The batch itself, at no cost."""
        nothing = torch.zeros(len(batch), dtype=torch.int64)
        size = torch.zeros(len(batch), dtype=batch.images.dtype)
        return Perturbed(results=(Result("any", batch.images, size),), forwards=nothing, backwards=nothing)
