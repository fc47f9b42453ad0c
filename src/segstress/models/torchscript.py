"""Networks saved as TorchScript, which carry their own code."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from torch import nn

from ..core import BadInput, settings
from .model import FileModel, first_line, models


@models.register("torchscript")
@settings
class TorchScript(FileModel):
    """A scripted or traced network: `torchscript:mine.pt?mean=0.485,0.456,0.406&std=0.229,0.224,0.225`."""

    def network(self) -> nn.Module:
        """Load the network with its weights; its code runs in TorchScript's interpreter, not in Python."""
        if not self.path.is_file():
            raise BadInput(f"model '{self.path}' does not exist; expected a TorchScript file")
        try:
            with warnings.catch_warnings(action="ignore"):  # that TorchScript is on its way out
                network: nn.Module = torch.jit.load(self.file, map_location="cpu")
        except (RuntimeError, ValueError) as error:
            hint = "a state_dict is loaded by factory:, smp: and others with weights="
            raise BadInput(f"model '{self.path}' is no TorchScript: {first_line(error)}; {hint}") from error
        return network

    def sources(self) -> tuple[Path, ...]:
        """Return the file, in which weights may be constants of its code."""
        return (self.file,)
