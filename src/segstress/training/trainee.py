"""The network while it is trained: logits of every head in train mode, of the main one when it is used."""

from __future__ import annotations

from collections.abc import Iterator

from jaxtyping import Float
from torch import Tensor, nn


class Trainee(nn.Module):
    """A network on images in [0, 1]; one that offers no `heads(images)` has a single head, its output."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Logits of the main head."""
        logits: Tensor = self.network(images)
        return logits

    def heads(self, images: Float[Tensor, "b c h w"]) -> dict[str, Tensor]:
        """Logits by head; `main` is always among them."""
        own = getattr(self.network, "heads", None)
        return own(images) if own else {"main": self(images)}

    def head_parameters(self) -> Iterator[nn.Parameter]:
        """What an optimiser may train faster; nothing where the network does not tell."""
        own = getattr(self.network, "head_parameters", None)
        yield from own() if own else ()

    def result(self) -> nn.Module:
        """What is left when training is over."""
        return self.network
