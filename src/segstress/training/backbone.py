"""Begin with features that are robust already: a backbone from a classifier's weights, heads as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator
from torch import Tensor, nn

from ..core import BadInput, settings
from ..core.remote import AnyPath
from ..models import models
from ..models.weights import Renaming, read_weights, renamed
from .trainee import Trainee


@settings
class Backbone:
    """Weights for the features of a network, as PIR-AT begins (Croce et al. 2024, arXiv:2306.12941)."""

    path: AnyPath | None = None  # safetensors or torch file; tensors that the network has no place for are left out
    model: str | dict[str, Any] | None = None  # in place of a file: a model whose part of that name it is
    key: str = ""  # entry of the file that holds the tensors, such as model
    part: Annotated[str, Field(pattern=r"[\w.]*")] = ""  # of the network that they fill, such as encoder
    rename: Renaming = Field(default_factory=dict)  # beginnings of a file's names: old:new

    @model_validator(mode="after")
    def _check(self) -> Backbone:
        if (self.path is None) == (self.model is None):
            raise BadInput("backbone: expected the path of its weights or a model that has it, one of the two")
        return self

    def fill(self, network: nn.Module) -> None:
        """Copy the weights; every tensor of the part that is not a head's must be found, in its shape."""
        part = self._part(network)
        weights, own = self._weights(), part.state_dict()
        wanted = [name for name in own if name.rpartition(".")[0] not in _heads(network, part)]
        for name in wanted:
            shape = tuple(weights[name].shape) if name in weights else None
            if shape != tuple(own[name].shape):
                what = "is missing" if shape is None else f"has shape {shape}"
                raise BadInput(
                    f"backbone '{self.path or self.model}' does not fit: {name} {what}, expected"
                    f" {tuple(own[name].shape)}; name the part of the network that it fills"
                )
        part.load_state_dict({name: weights[name] for name in wanted}, strict=False)

    def _weights(self) -> Mapping[str, Tensor]:
        if self.model is not None:
            return self._part(models.build(self.model).network()).state_dict()
        path = self.path or Path()
        if not path.is_file():
            raise BadInput(
                f"backbone '{path}' does not exist; expected a .safetensors or torch file, or a model: name yours by"
                " --backbone, or as `backbone` in a plan"
            )
        weights = read_weights(path, self.key)
        return {name: weights[old] for name, old in renamed(weights, self.rename, str(path)).items()}

    def _part(self, network: nn.Module) -> nn.Module:
        try:
            return network.get_submodule(self.part)
        except AttributeError as error:
            known = ", ".join(name for name, _ in network.named_children())
            raise BadInput(f"backbone: the network has no part '{self.part}'; its parts are {known}") from error


def _heads(network: nn.Module, part: nn.Module) -> set[str]:
    """Return the modules of a part that belong to a head."""
    heads = {id(parameter) for parameter in Trainee(network).head_parameters()}
    return {name.rpartition(".")[0] for name, parameter in part.named_parameters() if id(parameter) in heads}
