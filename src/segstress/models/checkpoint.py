"""Our own checkpoints: one safetensors file whose card says which architecture its weights belong to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
from safetensors.torch import save as to_bytes
from torch import nn

from ..core import BadInput, settings
from ..core.files import temporary_name
from ..core.remote import local_copy
from .interface import Interface
from .legend import Legend
from .model import FileModel, Model, models
from .weights import load_weights


@models.register("checkpoint")
@settings
class Checkpoint(FileModel):
    """What training has saved: `checkpoint:runs/mine/model.safetensors`."""

    def network(self) -> nn.Module:
        """Build the architecture on the card and fill it with the weights."""
        return restore(self.path)

    def known(self) -> Interface:
        """Return what the card's architecture says."""
        return architecture(self.path).interface()

    def legend(self) -> Legend | None:
        """Return the classes of the card's architecture."""
        return architecture(self.path).legend()

    def sources(self) -> tuple[Path, ...]:
        """Return the code of the card's architecture."""
        return architecture(self.path).sources()


def save(network: nn.Module, path: Path, card: Mapping[str, Any]) -> None:
    """Write weights and card, whole or not at all; the card's `architecture` is a model spec without weights."""
    models.build(card["architecture"])
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            file.write(to_bytes(tensors, metadata={"card": json.dumps(card, sort_keys=True)}))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def restore(path: Path) -> nn.Module:
    """Return rebuild the network that was saved, bare and trainable."""
    network = architecture(path).network()
    load_weights(network, path)
    return network


def architecture(path: Path) -> Model:
    """Read the settings of the network that a checkpoint's weights belong to."""
    card = read_card(path)
    if "architecture" not in card:
        raise BadInput(f"checkpoint '{path}': its card has no 'architecture', a model spec such as compact:cnn")
    return models.build(card["architecture"])


def read_card(path: Path) -> dict[str, Any]:
    """Read what is known of a checkpoint, from its header or from the JSON file next to it."""
    if not path.is_file():
        raise BadInput(f"checkpoint '{path}' does not exist; expected a .safetensors file")
    path = local_copy(path)
    beside = path.with_suffix(".json")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get("card")
        if text is None and not beside.is_file():
            raise BadInput(f"checkpoint '{path}' has no card; expected one in its header or in {beside.name}")
        card: dict[str, Any] = json.loads(beside.read_text() if text is None else text)
    except (safetensors.SafetensorError, json.JSONDecodeError) as error:
        raise BadInput(f"checkpoint '{path}' cannot be read: {error}") from error
    return card
