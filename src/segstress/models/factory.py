"""Networks that the user's own code makes: a function in a file or in a module."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field
from torch import nn

from ..core import BadInput, settings
from ..core.quantities import Classes
from .functions import find_function, source_file
from .model import models, readable
from .weights import Weighted


@models.register("factory")
@settings
class Factory(Weighted):
    """What a function of yours returns: `factory:nets.py:enet` or `factory:package.module:function`."""

    positional: ClassVar = "function"
    function: str  # file.py:function or module:function
    classes: Classes | None = None  # given to the function when it is set
    arguments: dict[str, Any] = Field(default_factory=dict)  # further keywords for the function

    @property
    def label(self) -> str:
        """The function, and the weights where they are called otherwise."""
        name = self.function.rpartition(":")[2]
        stem = self.weights.stem if self.weights else name
        return readable(name if stem == name else f"{name}-{stem}")

    def network(self) -> nn.Module:
        """Call the function, and load the weights if any are named."""
        keywords = self.arguments if self.classes is None else {"classes": self.classes, **self.arguments}
        function = find_function("factory", self.function)
        try:
            inspect.signature(function).bind(**keywords)
        except (TypeError, ValueError) as error:
            raise BadInput(f"{self.function} cannot be called with {keywords}: {error}") from error
        try:
            network = function(**keywords)
        except (Exception, SystemExit) as error:  # it is the user's code, and may raise anything
            raise BadInput(f"{self.function} raised {type(error).__name__}: {error}") from error
        if not isinstance(network, nn.Module):
            raise BadInput(f"{self.function} returned {type(network).__name__}; expected a torch.nn.Module")
        self.fill(network)
        return network

    def sources(self) -> tuple[Path, ...]:
        """Return the file that is named."""
        return (source_file("factory", self.function),)
