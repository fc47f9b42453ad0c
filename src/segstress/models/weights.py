"""Weights from files: tensors only, never pickled code, and every name and shape must fit."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from ..core import BadInput
from .model import first_line


def load_weights(network: nn.Module, path: Path, key: str = "") -> None:
    """Fill a network from a file; `key` names the entry that holds the tensors, such as `model`."""
    fill(network, read_weights(path, key), str(path))


def read_weights(path: Path, key: str = "") -> dict[str, Tensor]:
    """The named tensors of a safetensors or torch file."""
    if not path.is_file():
        raise BadInput(f"weights '{path}' do not exist; expected a .safetensors or torch file")
    found = _read(path)
    for part in filter(None, key.split(".")):
        if not isinstance(found, Mapping) or part not in found:
            raise BadInput(f"weights '{path}': no entry '{key}'; found {_brief(found)}")
        found = found[part]
    if not isinstance(found, Mapping) or not found or not all(isinstance(value, Tensor) for value in found.values()):
        raise BadInput(f"weights '{path}': expected named tensors, found {_brief(found)}; weights_key names the entry")
    wrapped = all(name.startswith("module.") for name in found)  # saved from a DataParallel
    return {name.removeprefix("module.") if wrapped else name: value for name, value in found.items()}


def fill(network: nn.Module, weights: Mapping[str, Tensor], source: str) -> None:
    """Copy tensors into a network whose names and shapes are exactly theirs."""
    wanted = network.state_dict()
    missing, unexpected = sorted(wanted.keys() - weights.keys()), sorted(weights.keys() - wanted.keys())
    if missing or unexpected:
        raise BadInput(f"weights '{source}' do not fit: missing {_brief(missing)}; unexpected {_brief(unexpected)}")
    for name, tensor in wanted.items():
        found, expected = tuple(weights[name].shape), tuple(tensor.shape)
        if found != expected:
            raise BadInput(f"weights '{source}' do not fit: {name} has shape {found}, expected {expected}")
    network.load_state_dict(weights)


def _read(path: Path) -> Any:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise BadInput(f"weights '{path}' hold more than tensors and are refused; save a state_dict alone") from error
    except (safetensors.SafetensorError, RuntimeError, EOFError, OSError) as error:
        raise BadInput(f"weights '{path}' cannot be read: {first_line(error)}") from error


def _brief(names: Any) -> str:
    """A few of the names, and how many there are."""
    if not isinstance(names, Mapping | list):
        return type(names).__name__
    shown = [str(name) for name in names][:3]
    more = f", ... ({len(names)})" if len(names) > len(shown) else ""
    return ", ".join(shown) + more if shown else "none"
