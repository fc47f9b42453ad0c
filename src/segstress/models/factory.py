"""Networks that the user's own code makes: a function in a file or in a module."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field
from torch import nn

from ..core import BadInput, import_source, settings
from .model import models, readable
from .weights import Weighted


@models.register("factory")
@settings
class Factory(Weighted):
    """What a function of yours returns: `factory:nets.py:enet` or `factory:package.module:function`."""

    positional: ClassVar = "function"
    function: str  # file.py:function or module:function
    classes: int | None = None  # given to the function when it is set
    arguments: dict[str, Any] = Field(default_factory=dict)  # further keywords for the function

    @property
    def label(self) -> str:
        """The function, and the weights where they are called otherwise."""
        name = self.function.rpartition(":")[2]
        stem = self.weights.stem if self.weights else name
        return readable(name if stem == name else f"{name}-{stem}")

    def network(self) -> nn.Module:
        """What the function returns, with the weights if any are named."""
        keywords = self.arguments if self.classes is None else {"classes": self.classes, **self.arguments}
        function = self._find()
        try:
            inspect.signature(function).bind(**keywords)
        except (TypeError, ValueError) as error:
            raise BadInput(f"{self.function} cannot be called with {keywords}: {error}") from error
        network = function(**keywords)
        if not isinstance(network, nn.Module):
            raise BadInput(f"{self.function} returned {type(network).__name__}; expected a torch.nn.Module")
        self.fill(network)
        return network

    def sources(self) -> tuple[Path, ...]:
        """The file that is named."""
        return (Path(str(import_source(self._split()[0]).__file__)),)

    def _find(self) -> Callable[..., object]:
        source, name = self._split()
        found: object = getattr(import_source(source), name, None)
        if not callable(found):
            raise BadInput(f"{source} has no function '{name}'")
        return found

    def _split(self) -> tuple[str, str]:
        source, _, name = self.function.rpartition(":")
        if not source:
            raise BadInput(f"factory '{self.function}': expected file.py:function or module:function")
        return source, name
