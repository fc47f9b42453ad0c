"""Networks of segmentation_models_pytorch."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from pydantic import Field
from torch import nn

from ..core import settings
from ..core.quantities import Classes
from .frameworks import IMAGENET, framework
from .heads import tell_heads
from .interface import Interface, Pad
from .model import check_known, models, readable
from .weights import Weighted


@models.register("smp")
@settings
class SMP(Weighted):
    """A decoder of segmentation_models_pytorch on an encoder: `smp:unet?encoder=resnet34&classes=21&weights=a.pth`."""

    positional: ClassVar = "architecture"
    architecture: str
    encoder: str = "resnet34"
    classes: Classes = 21
    channels: Classes = 3  # of the images
    arguments: dict[str, Any] = Field(default_factory=dict)  # further keywords for smp.create_model

    @property
    def label(self) -> str:
        """Decoder, encoder and weights."""
        parts = [self.architecture, self.encoder, *([self.weights.stem] if self.weights else [])]
        return readable("-".join(parts))

    def known(self) -> Interface:
        """Ask for sides in multiples of 32 and RGB normalised as ImageNet is."""
        normalised = IMAGENET if self.channels == 3 else Interface()
        return dataclasses.replace(normalised, pad=Pad(multiple=32))

    def network(self) -> nn.Module:
        """Make the network, with its weights if any are named."""
        with framework("smp"):
            import segmentation_models_pytorch as smp
        check_known("smp architecture", self.architecture, smp.MODEL_ARCHITECTURES_MAPPING)
        if not self.encoder.startswith("tu-"):  # encoders of timm are too many to list
            check_known("smp encoder", self.encoder, smp.encoders.get_encoder_names())
        shape = {"encoder_name": self.encoder, "in_channels": self.channels, "classes": self.classes}
        network: nn.Module = smp.create_model(self.architecture, encoder_weights=None, **shape, **self.arguments)
        self.fill(network)
        return tell_heads(network, "decoder", "segmentation_head", answer=lambda logits: {"main": logits})
