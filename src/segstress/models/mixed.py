"""A model in mixed precision: what a device computes faster in 16 bits it does so, logits come out in 32."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Mixed(nn.Module):
    """The same weights under autocast to bfloat16, for searching; never for judging."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        """Return logits as float32."""
        with torch.autocast(images.device.type, torch.bfloat16):
            logits: Tensor = self.network(images)
        return logits.float()
