"""What flows into every perturbation: images of one size and what is known of their pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Images of one size with their labels; no loss ever sees a void label."""

    ids: tuple[str, ...]
    images: Float[Tensor, "b c h w"]  # in [0, 1]
    labels: Int64[Tensor, "b h w"]  # 0 where not valid
    valid: Bool[Tensor, "b h w"]
    goal: Int64[Tensor, "b h w"] | None = None  # what a targeted attack wants to see; 0 where not goal_valid
    goal_valid: Bool[Tensor, "b h w"] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Batch:
        """Return the same batch on another device."""

        def move(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device)

        images = self.images.to(device, dtype or self.images.dtype)
        labels, valid = self.labels.to(device), self.valid.to(device)
        return replace(
            self, images=images, labels=labels, valid=valid, goal=move(self.goal), goal_valid=move(self.goal_valid)
        )

    def pick(self, places: Sequence[int]) -> Batch:
        """Return some of its images, in the given order."""
        index = torch.as_tensor(places, device=self.images.device)

        def take(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor[index]

        return Batch(
            ids=tuple(self.ids[position] for position in places),
            images=self.images[index],
            labels=self.labels[index],
            valid=self.valid[index],
            goal=take(self.goal),
            goal_valid=take(self.goal_valid),
        )
