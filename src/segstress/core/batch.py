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
        return replace(
            self,
            images=send(self.images, device).to(dtype or self.images.dtype),
            labels=send(self.labels, device),
            valid=send(self.valid, device),
            goal=None if self.goal is None else send(self.goal, device),
            goal_valid=None if self.goal_valid is None else send(self.goal_valid, device),
        )

    def pick(self, indices: Sequence[int]) -> Batch:
        """Return some of its images, in the given order."""
        index = torch.as_tensor(indices, device=self.images.device)

        def take(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor[index]

        return Batch(
            ids=tuple(self.ids[position] for position in indices),
            images=self.images[index],
            labels=self.labels[index],
            valid=self.valid[index],
            goal=take(self.goal),
            goal_valid=take(self.goal_valid),
        )


def send(tensor: Tensor, device: torch.device | str) -> Tensor:
    """Bring a tensor to a device; to a GPU from pinned memory, so that the host does not wait for the copy."""
    if torch.device(device).type != "cuda" or tensor.device.type != "cpu":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)
