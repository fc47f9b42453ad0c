"""Networks saved by torch.export, which carry their own graph."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..core import BadInput, settings
from .model import FileModel, first_line, models
from .sizes import ENDLESS, Side, Sized, first

LEAST = 2  # torch.export says "from 2" of a side that may be 1 as well


@models.register("exported")
@settings
class TorchExport(FileModel):
    """A network that torch.export saved: `exported:mine.pt2?mean=0.485,0.456,0.406&std=0.229,0.224,0.225`."""

    def network(self) -> nn.Module:
        """Load the graph with its weights; sizes that it was not exported for are refused."""
        if not self.path.is_file():
            raise BadInput(f"model '{self.path}' does not exist; expected a file of torch.export.save")
        try:
            with warnings.catch_warnings(action="ignore"):
                program = torch.export.load(self.file)
        except Exception as error:  # what a file that is none makes it raise has no other base in common
            hint = "a state_dict is loaded by factory:, smp: and others, TorchScript by torchscript:"
            raise BadInput(f"model '{self.path}' is no torch.export file: {first_line(error)}; {hint}") from error
        self._check_mode(program)
        shape = self._shape(program)
        number, _, height, width = (_side(program, length) for length in shape)
        square = not isinstance(shape[2], int) and str(shape[2]) == str(shape[3])
        sized = Sized(Graph(program.module()), "exported graph", number, height, width, square=square)
        return sized.network if sized.free else sized

    def sources(self) -> tuple[Path, ...]:
        """Return the file, in which weights may be constants of its code."""
        return (self.file,)

    def _check_mode(self, program: Any) -> None:
        """Refuse a graph of training: dropout and batch statistics are then part of it."""
        for node in program.graph.nodes:
            arguments = getattr(getattr(node.target, "_schema", None), "arguments", ())
            given = {argument.name: value for argument, value in zip(arguments, node.args, strict=False)} | node.kwargs
            if given.get("train") is True or given.get("training") is True:
                raise BadInput(
                    f"model '{self.path}' was exported in train mode ({node.target}); call eval() before torch.export"
                )

    def _shape(self, program: Any) -> Any:
        """Return the shape of its one input, with symbols for free lengths."""
        entries = [node for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
        shapes = [node.meta["val"].shape for node in entries if hasattr(node.meta.get("val"), "shape")]
        if len(entries) != 1 or len(shapes) != 1 or len(shapes[0]) != 4:
            sizes = ", ".join(str(tuple(shape)) for shape in shapes) or "none"
            raise BadInput(f"model '{self.path}': expected one input (images, channels, h, w), found {sizes}")
        return shapes[0]


class Graph(nn.Module):
    """The module of an exported program; it knows no modes, since the graph has but one."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        for refusing in ("train", "eval"):
            vars(module).pop(refusing, None)
        self.module = module.train(False)

    def forward(self, images: Float[Tensor, "b c h w"]) -> Tensor:
        """Return answer; what the graph's own guards refuse is told as they say it."""
        try:
            return first(self.module(images))
        except AssertionError as error:
            raise BadInput(f"the exported graph refuses images {tuple(images.shape)}: {first_line(error)}") from error


def _side(program: Any, length: Any) -> Side:
    """Read the lengths that a dimension may have: a number, or a symbol times something plus a rest."""
    if isinstance(length, int):
        return Side(length, length)
    expression = length.node.expr
    (symbol,) = expression.free_symbols or (expression,)
    multiple, rest = (int(value) for value in (expression.coeff(symbol), expression.subs(symbol, 0)))
    allowed = program.range_constraints[symbol]
    least, most = (multiple * bound + rest for bound in (allowed.lower, allowed.upper))
    return Side(
        least=1 if least <= LEAST else int(least),
        most=ENDLESS if most >= ENDLESS else int(most),
        multiple=multiple,
        plus=rest % multiple,
    )
