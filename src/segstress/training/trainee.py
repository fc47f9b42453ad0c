"""The network while it is trained: logits of every head in train mode, of the main one when it is used."""

from __future__ import annotations

from collections.abc import Iterator

from jaxtyping import Float
from torch import Tensor, nn

from ..models import Interface, Segmenter


class Adapted(Segmenter):
    """A network behind its interface that may be in train mode as well."""

    def check_mode(self) -> None:
        """Train mode is no mistake here."""

    def heads(self, images: Float[Tensor, "b c h w"]) -> dict[str, Tensor]:
        """Return the logits by head; the main one alone where the network tells none, or looks more than once."""
        own = getattr(self.network, "heads", None)
        if own is None or self._looks_again(images):
            return {"main": self(images)}
        inputs = self.prepare(images)
        padded = self.pad(inputs)
        return {name: self.fit(logits, padded, inputs) for name, logits in own(padded).items()}

    def _looks_again(self, images: Tensor) -> bool:
        """Tell whether an answer is made of several looks, or of one at another size."""
        window = self.interface.window
        slides = window is not None and any(side > most for side, most in zip(images.shape[-2:], window, strict=True))
        return slides or self.interface.mirror or self.interface.long_side is not None


def adapt(network: nn.Module, interface: Interface) -> nn.Module:
    """Return the network on images in [0, 1], with logits at their size; as it is where it does so by itself."""
    return network if interface == Interface() else Adapted(network, interface)


def bare(network: nn.Module) -> nn.Module:
    """Return the network without its adapter, as checkpoints keep it."""
    return network.network if isinstance(network, Adapted) else network


class Trainee(nn.Module):
    """A network on images in [0, 1]; one that offers no `heads(images)` has a single head, its output."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return the logits of the main head."""
        logits: Tensor = self.network(images)
        return logits

    def heads(self, images: Float[Tensor, "b c h w"]) -> dict[str, Tensor]:
        """Return the logits by head; `main` is always among them."""
        own = getattr(self.network, "heads", None)
        return own(images) if own else {"main": self.network(images)}

    def head_parameters(self) -> Iterator[nn.Parameter]:
        """Yield what an optimiser may train faster; nothing where the network does not tell."""
        own = getattr(bare(self.network), "head_parameters", None)
        yield from own() if own else ()

    def result(self) -> nn.Module:
        """Return what is left when training is over."""
        return bare(self.network)
