"""Segmentation networks of torchvision."""

from __future__ import annotations

from typing import ClassVar

from torch import nn

from ..core import settings
from .frameworks import IMAGENET, framework
from .interface import Interface
from .model import check_known, models, readable
from .weights import Weighted, read_weights


@models.register("torchvision")
@settings
class Torchvision(Weighted):
    """A network of torchvision with weights of yours: `torchvision:deeplabv3_resnet50?weights=mine.pth`."""

    positional: ClassVar = "name"
    name: str
    classes: int = 21

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
        self.fill(network)
        return network
