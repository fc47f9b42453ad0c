"""Random numbers for a batch: one stream for each image, so that neighbours cannot change a draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int16, Int64
from torch import Generator, Tensor

from ..core import stream

CACHED = 1 << 15  # numbers that are worked on together, so that a processor's cache holds them
MOST = 1000  # of a Poisson count; a rate of 700 comes to 845 with the last chance below 1


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
        """Draw counts with these expectations, below 700 each.

        A count is read off the distribution function at one uniform number, so that of the same draws none is
        smaller for a larger rate."""
        chances = self.uniform(*rates.shape[1:])
        parts = (numbers.cpu().flatten().split(CACHED) for numbers in (rates, chances))
        return torch.cat([poisson_at(*pair) for pair in zip(*parts, strict=True)]).view(rates.shape).to(rates)

    def _stack(self, draw: Callable[[Generator], Tensor]) -> Tensor:
        return torch.stack([draw(generator) for generator in self.streams]).to(self.device)


def poisson_at(rates: Float[Tensor, " n"], chances: Float[Tensor, " n"]) -> Int16[Tensor, " n"]:
    """Return the smallest counts whose shares, with all below them, exceed the chances.

    The terms are added in float64, where the last chance of float32 below 1 is still far from what rounds to 1."""
    left, rates = chances.to(torch.float64, copy=True), rates.double()
    term, counts = torch.exp(-rates), torch.zeros_like(rates, dtype=torch.int16)
    for count in range(1, MOST + 1):
        more = left.sub_(term) >= 0
        if not more.any():
            break
        counts += more
        term.mul_(rates).mul_(1 / count)
    return counts
