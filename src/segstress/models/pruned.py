"""Rivals for a model that has none: copies of itself with their smallest weights cut (Wang et al., CVPR 2021)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from ..core import Seed, Spec, settings
from .interface import Interface
from .legend import Legend
from .model import Model, models


@models.register("pruned")
@settings
class Pruned(Model):
    """A copy of another model without a random part of its smaller weights: `pruned:compact:cnn-normal?share=0.3`."""

    positional: ClassVar = "of"
    of: str | dict[str, Any]  # spec of the model
    share: Annotated[float, Field(ge=0, lt=1)] = 0.2  # of each layer's weights
    seed: Seed = 0  # which of several copies

    @property
    def label(self) -> str:
        """The other's name, the share and the copy."""
        return f"{models.build(self.of).label}-pruned-{self.share:g}-{self.seed}"

    def network(self) -> nn.Module:
        """Load the other's network and thin it out."""
        network = models.build(self.of).network()
        random = torch.Generator().manual_seed(self.seed)
        with torch.no_grad():
            for weights in network.parameters():
                if weights.ndim > 1:
                    weights.mul_(self._kept(weights, random))
        return network

    def _kept(self, weights: Tensor, random: torch.Generator) -> Tensor:
        """Keep all but a random half of the smallest twice the share, so that copies differ from one another."""
        sizes = weights.abs().flatten()
        candidates = sizes.argsort()[: min(len(sizes), round(2 * self.share * len(sizes)))]
        removed = candidates[torch.randperm(len(candidates), generator=random)[: round(self.share * len(sizes))]]
        kept = torch.ones(len(sizes), dtype=weights.dtype)
        kept[removed] = 0
        return kept.view(weights.shape)

    def known(self) -> Interface:
        """Return the other's interface."""
        return models.build(self.of).interface()

    def legend(self) -> Legend | None:
        """Return the other's classes."""
        return models.build(self.of).legend()

    def sources(self) -> tuple[Path, ...]:
        """Return the other's files."""
        return models.build(self.of).sources()


def rivals(spec: Spec, copies: int, share: float = 0.2) -> list[dict[str, Any]]:
    """Return specs of several pruned copies of one model."""
    of = spec if isinstance(spec, str) else dict(spec)
    return [{"kind": "pruned", "of": of, "share": share, "seed": seed} for seed in range(copies)]
