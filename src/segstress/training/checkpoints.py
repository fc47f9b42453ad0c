"""What training leaves behind: models to use, and the state from which it goes on as if it had never stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from ..core import BadInput
from ..models import save

Figures = dict[str, float]


@dataclass
class State:
    """How far training has come; random draws and learning rate follow from the step alone."""

    step: int = 0  # steps done
    loss: float = 0.0  # sums over the steps of the current epoch
    accuracy: float = 0.0
    best: float = -1.0
    history: list[dict[str, Any]] = field(default_factory=list)  # one entry for every epoch


@dataclass(frozen=True)
class Checkpoints:
    """The files of one training: state.safetensors to resume, last.safetensors and best.safetensors to use."""

    folder: Path
    write: Callable[[Path, bytes], None]  # whole or not at all

    def begun(self) -> bool:
        """Tell whether there is a state to go on from, or a model."""
        return any((self.folder / f"{name}.safetensors").exists() for name in ("state", "last", "best"))

    def save_state(self, network: nn.Module, optimiser: torch.optim.Optimizer, state: State) -> None:
        """Save everything in one file, so that weights and counters can never be of two different steps."""
        plain = optimiser.state_dict()
        tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
        for number, memory in plain["state"].items():
            tensors |= {f"optimiser.{number}.{name}": value for name, value in memory.items() if value is not None}
        header = {"progress": json.dumps({"state": asdict(state), "groups": plain["param_groups"]})}
        ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        self.write(self._state, to_bytes(ready, metadata=header))

    def load_state(self, network: nn.Module, optimiser: torch.optim.Optimizer) -> State:
        """Put network and optimiser back where they were; a fresh start where there is nothing yet."""
        if not self._state.exists():
            return State()
        try:
            tensors = load_file(self._state)
            with safetensors.safe_open(self._state, framework="pt") as file:
                progress = json.loads(file.metadata()["progress"])
        except (OSError, safetensors.SafetensorError) as error:
            raise BadInput(f"{self._state} cannot be read: {error}; choose another --out to begin anew") from error
        network.load_state_dict(_under(tensors, "network."))
        memory: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _under(tensors, "optimiser.").items():
            number, _, key = name.partition(".")
            memory.setdefault(int(number), {})[key] = tensor
        optimiser.load_state_dict({"state": memory, "param_groups": progress["groups"]})
        for parameter, kept in optimiser.state.items():
            for name, value in kept.items():
                if (
                    value.shape == parameter.shape
                ):  # laid out as the weight is: another order of memory rounds otherwise
                    kept[name] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
        return State(**progress["state"])

    def read_history(self) -> list[dict[str, Any]]:
        """Return one entry for every epoch that is done, without loading any weight."""
        if not self._state.exists():
            raise BadInput(f"{self.folder} holds no training: {self._state.name} is missing")
        try:
            with safetensors.safe_open(self._state, framework="pt") as file:
                progress = json.loads(file.metadata()["progress"])
        except (OSError, safetensors.SafetensorError) as error:
            raise BadInput(f"{self._state} cannot be read: {error}") from error
        history: list[dict[str, Any]] = progress["state"]["history"]
        return history

    def save_model(self, network: nn.Module, name: str, card: Mapping[str, Any]) -> None:
        """Save a model that can be named in a plan, with its card also beside it for people."""
        path = self.folder / f"{name}.safetensors"
        try:
            save(network, path, card)
        except OSError as error:
            raise BadInput(
                f"cannot write {path}: {error.strerror}; make room and run the same command again"
            ) from error
        self.write(path.with_suffix(".json"), (json.dumps(card, indent=1) + "\n").encode())

    @property
    def _state(self) -> Path:
        return self.folder / "state.safetensors"


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
