"""Networks small enough for a laptop, untrained or from the zoo that comes with the package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import torch
from torch import nn

from ..core import Seed, settings
from ..core.quantities import Classes
from .checkpoint import restore
from .model import Model, check_known, models, readable
from .networks.convolutional import Convolutional
from .networks.transformer import Transformer
from .networks.unet import UNet

ARCHITECTURES: dict[str, Callable[[int, int], nn.Module]] = {
    "cnn": Convolutional,
    "transformer": Transformer,
    "unet": UNet,
}
ZOO = Path(__file__).parent.parent / "zoo"


@models.register("compact")
@settings
class Compact(Model):
    """A small network: `compact:cnn` untrained, `compact:cnn-normal` from the zoo."""

    positional: ClassVar = "name"
    name: str = "cnn-normal"
    classes: Classes = 7  # of an untrained network
    channels: Classes = 3  # of its images
    seed: Seed = 0  # of its first weights

    @property
    def label(self) -> str:
        """Its name."""
        return readable(self.name)

    def network(self) -> nn.Module:
        """Build the architecture with weights by seed, or read what the zoo holds under the name."""
        if self.name not in ARCHITECTURES:
            check_known("compact model", self.name, [*ARCHITECTURES, *zoo()])
            return restore(zoo()[self.name])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return ARCHITECTURES[self.name](self.classes, self.channels)


def zoo() -> dict[str, Path]:
    """Return the checkpoints that come with the package, by name."""
    return {path.stem: path for path in sorted(ZOO.glob("*.safetensors"))}
