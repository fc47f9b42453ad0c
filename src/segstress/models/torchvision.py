"""Segmentation networks of torchvision."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from torch import nn

from ..core import settings
from .frameworks import IMAGENET, framework
from .interface import Interface
from .model import Model, check_known, models, readable
from .weights import fill, read_weights


@models.register("torchvision")
@settings
class Torchvision(Model):
    """A network of torchvision with weights of yours: `torchvision:deeplabv3_resnet50?weights=mine.pth`."""

    positional: ClassVar = "name"
    name: str
    classes: int = 21
    weights: Path | None = None  # a state_dict; none = untrained, nothing is ever downloaded
    weights_key: str = ""  # entry of the file that holds the tensors

    @property
    def label(self) -> str:
        """Its name, and that of its weights."""
        return readable(f"{self.name}-{self.weights.stem}" if self.weights else self.name)

    def known(self) -> Interface:
        """Normalised as ImageNet is."""
        return IMAGENET

    def network(self) -> nn.Module:
        """The network; it has an auxiliary head where the weights have one."""
        with framework("torchvision"):
            from torchvision.models import get_model, list_models, segmentation
        check_known("torchvision model", self.name, list_models(module=segmentation))
        weights = read_weights(self.weights, self.weights_key) if self.weights else {}
        auxiliary = {"aux_loss": True} if any(name.startswith("aux_classifier.") for name in weights) else {}
        network: nn.Module = get_model(
            self.name, weights=None, weights_backbone=None, num_classes=self.classes, **auxiliary
        )
        if self.weights:
            fill(network, weights, str(self.weights))
        return network
