"""Segmentation networks of torchvision."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..core import BadInput, settings
from ..core.quantities import Classes
from .frameworks import IMAGENET, framework
from .heads import tell_heads
from .interface import Interface
from .legend import Legend
from .model import check_known, models, readable
from .weights import Weighted, read_weights

RELEASED = re.compile(r"(\w+_Weights)\.(\w+)")  # how torchvision names what it has released


@models.register("torchvision")
@settings
class Torchvision(Weighted):
    """A network of torchvision: `torchvision:deeplabv3_resnet50?weights=mine.pth`, or weights by torchvision's name."""

    positional: ClassVar = "name"
    name: str
    classes: Classes = 21
    auxiliary: bool = False  # a second head, which only training uses; weights that have one bring it anyway
    transforms: str = (
        ""  # normalised and named as these weights are: DeepLabV3_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1
    )

    @property
    def label(self) -> str:
        """Its name, and that of its weights."""
        if self.weights is None:
            return readable(self.name)
        released = RELEASED.fullmatch(str(self.weights))
        return readable(f"{self.name}-{released[2] if released else self.weights.stem}")

    def known(self) -> Interface:
        """Return the normalisation of the weights that are named; without a name that of ImageNet."""
        member = self._member()
        if member is None:
            return IMAGENET
        rules = member.transforms()
        return Interface(mean=tuple(rules.mean), std=tuple(rules.std))

    def legend(self) -> Legend | None:
        """Return the classes of the weights that are named."""
        names = tuple(self._member().meta["categories"]) if self._released() else ()
        return Legend(names) if len(names) == self.classes else None

    def network(self) -> nn.Module:
        """Make the network; it has an auxiliary head where the weights have one."""
        with framework("torchvision"):
            from torchvision.models import get_model, list_models, segmentation
        check_known("torchvision model", self.name, list_models(module=segmentation))
        path = self.weights_file()
        weights = read_weights(path, self.weights_key) if path else {}
        brought = any(name.startswith("aux_classifier.") for name in weights)
        auxiliary = {"aux_loss": True} if self.auxiliary or brought else {}
        try:
            network: nn.Module = get_model(
                self.name, weights=None, weights_backbone=None, num_classes=self.classes, **auxiliary
            )
        except NotImplementedError as error:
            raise BadInput(
                f"torchvision model {self.name} cannot have the auxiliary head that"
                f" {'auxiliary=true asks for' if self.auxiliary else f'weights {path} hold'};"
                f" {'leave it out' if self.auxiliary else 'take other weights'}, or take an fcn or deeplabv3 network"
            ) from error
        self.fill(network)
        return tell_heads(network, "classifier", "aux_classifier", answer=_answer)

    def weights_file(self) -> Path | None:
        """Return the file of weights; those of torchvision must be in torch's cache already."""
        if self.weights is None or self.weights.exists() or not RELEASED.fullmatch(str(self.weights)):
            return self.weights
        url = self._member(str(self.weights)).url
        path = Path(torch.hub.get_dir(), "checkpoints", url.rpartition("/")[2])
        if not path.is_file():
            raise BadInput(
                f"weights {self.weights} are not in torch's cache, and nothing is downloaded during a run: "
                f"put {url} there ({path.parent}), or set weights=<its file>&transforms={self.weights}"
            )
        return path

    def _released(self) -> str:
        """Return torchvision's name for the weights whose rules hold, if the settings say one."""
        named = self.weights is not None and not self.weights.exists() and RELEASED.fullmatch(str(self.weights))
        return self.transforms or (str(self.weights) if named else "")

    def _member(self, name: str = "") -> Any:
        """Look up a name in torchvision's enums of released weights; none where the settings say no name."""
        name = name or self._released()
        if not name:
            return None
        with framework("torchvision"):
            from torchvision.models import get_model_weights, list_models, segmentation
        check_known("torchvision model", self.name, list_models(module=segmentation))
        known = get_model_weights(self.name)
        check_known(
            f"weights of torchvision's {self.name}", name, [f"{known.__name__}.{key}" for key in known.__members__]
        )
        return known[name.rpartition(".")[2]]


def _answer(output: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the logits by head; torchvision calls the main one `out`."""
    return {"main" if name == "out" else name: logits for name, logits in output.items()}
