"""Where a perturbation acts: masks that depend on the run seed and the image id only, so every model sees the same."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Bool
from torch import Tensor

from ..batch import Batch
from ..configuration import settings
from ..errors import BadInput
from ..registry import Registry


@runtime_checkable
class Region(Protocol):
    """A rule that says which pixels of an image belong."""

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """Mark where it does."""
        ...


regions: Registry[Region] = Registry("region")


@regions.register("classes")
@settings
class Classes:
    """The pixels whose true class is one of those given."""

    positional: ClassVar = "classes"
    classes: tuple[int, ...] | int

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """Mark those classes, void left out."""
        wanted = (self.classes,) if isinstance(self.classes, int) else self.classes
        if not wanted:
            raise BadInput("region classes: expected at least one class id, found none")
        return torch.isin(batch.labels, torch.tensor(wanted, device=batch.labels.device)) & batch.valid
