"""Random numbers for a batch: one stream for each image, so that neighbours cannot change a draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Generator, Tensor

from ..core import stream


@dataclass(frozen=True)
class Draws:
    """Streams in the order of the images; drawn on the CPU, so that every device sees the same numbers."""

    streams: tuple[Generator, ...]
    device: torch.device

    @classmethod
    def of(cls, ids: Sequence[str], seed: int, purpose: str, device: torch.device) -> Draws:
        """Return fresh streams for these images and this purpose."""
        return cls(tuple(stream(seed, id_, purpose) for id_ in ids), device)

    def normal(self, *shape: int) -> Float[Tensor, "b ..."]:
        """Draw standard normal numbers."""
        return self._stack(lambda generator: torch.randn(shape, generator=generator))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Float[Tensor, "b ..."]:
        """Draw numbers from [low, high)."""
        return self._stack(lambda generator: torch.empty(shape).uniform_(low, high, generator=generator))

    def integers(self, low: int, high: int, *shape: int) -> Int64[Tensor, "b ..."]:
        """Draw whole numbers from low to high - 1."""
        return self._stack(lambda generator: torch.randint(low, high, shape, generator=generator))

    def poisson(self, rates: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Draw counts with these expectations."""
        pairs = zip(rates.cpu(), self.streams, strict=True)
        return torch.stack([torch.poisson(rate, generator=generator) for rate, generator in pairs]).to(self.device)

    def _stack(self, draw: Callable[[Generator], Tensor]) -> Tensor:
        return torch.stack([draw(generator) for generator in self.streams]).to(self.device)
