"""Three compact networks for road scenes, written anew, with which real images can be attacked on a CPU.

Their layers stand in the order of the published checkpoints, so weights are read by order.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from .cgnet import CGNet
from .enet import ENet
from .espnet import ESPNet

NETWORKS: dict[str, type[nn.Module]] = {"enet": ENet, "cgnet": CGNet, "espnet": ESPNet}


def load(name: str, folder: Path | None = None) -> nn.Module:
    """A frozen network in eval mode, with the weights of folder/<name>.pth or with random ones."""
    torch.manual_seed(0)
    network = NETWORKS[name]()
    if folder is not None:
        state = torch.load(folder / f"{name}.pth", weights_only=True, map_location="cpu")
        state = state.get("model", state.get("state_dict", state))
        tensors = [tensor for key, tensor in state.items() if not key.endswith("num_batches_tracked")]
        keys = [key for key in network.state_dict() if not key.endswith("num_batches_tracked")]
        network.load_state_dict(dict(zip(keys, tensors, strict=True)), strict=False)
    return network.eval().requires_grad_(False)
