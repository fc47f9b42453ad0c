"""Networks saved as ONNX, turned into torch modules so that they have gradients."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..core import BadInput, settings
from .frameworks import framework
from .model import Model, first_line, models, readable

TOLERANCE = 1e-3  # largest difference to onnxruntime, as a share of the largest output


@models.register("onnx")
@settings
class Onnx(Model):
    """A network in an ONNX file: `onnx:mine.onnx`; refused when its torch twin answers otherwise than onnxruntime."""

    positional: ClassVar = "path"
    path: Path
    size: int = 64  # side of the image for that comparison where the file leaves it open

    @property
    def label(self) -> str:
        """The name of the file."""
        return readable(self.path.stem)

    def network(self) -> nn.Module:
        """The torch twin, compared with the original on a random image."""
        with framework("onnx"):
            import onnx
            import onnx2pytorch
            import onnxruntime
        if not self.path.is_file():
            raise BadInput(f"model '{self.path}' does not exist; expected an ONNX file")
        try:
            session = onnxruntime.InferenceSession(self.path, providers=["CPUExecutionProvider"])
            model = onnx.load(self.path)
            _name_twice(model.graph)
            with warnings.catch_warnings(action="ignore"):  # that results might differ: the comparison tells
                network: nn.Module = onnx2pytorch.ConvertModel(model).eval()
            difference = self._difference(network, session)
        except Exception as error:  # what the three raise has no other base in common
            raise BadInput(f"model '{self.path}' cannot be turned into torch: {first_line(error)}") from error
        if not difference <= TOLERANCE:
            raise BadInput(f"model '{self.path}': its torch twin differs from onnxruntime by {difference:.1%}")
        shape = [side if isinstance(side, int) else 0 for side in session.get_inputs()[0].shape]
        return Fixed(network, shape) if any((shape[0], *shape[2:])) else network

    def _difference(self, network: nn.Module, session: Any) -> float:
        """The largest difference between the two, as a share of the largest output."""
        entry, free = session.get_inputs()[0], (1, 3, self.size, self.size)
        shape = [side if isinstance(side, int) else other for side, other in zip(entry.shape, free, strict=True)]
        image = np.random.default_rng(0).random(shape, dtype=np.float32)
        expected = session.run(None, {entry.name: image})[0]
        with torch.no_grad():
            answer = network(torch.from_numpy(image))
        found = _first(answer).numpy()
        return float(np.abs(found - expected).max() / np.abs(expected).max())


class Fixed(nn.Module):
    """A graph that takes one size alone, or one number of images."""

    def __init__(self, network: nn.Module, shape: Sequence[int]) -> None:
        super().__init__()
        self.network = network
        self.shape = tuple(shape)  # 0 = any

    def forward(self, images: Float[Tensor, "b c h w"]) -> Tensor:
        """The network's answer, image by image where it takes one at a time."""
        number, _, *sides = self.shape
        if any(side not in (0, found) for side, found in zip(sides, images.shape[2:], strict=True)):
            wanted, found = (" x ".join(str(side or "any") for side in each) for each in (sides, images.shape[2:]))
            raise BadInput(
                f"the ONNX graph takes images of {wanted}, found {found}; resize the data, look through windows "
                f"(window={sides[0]},{sides[1]}) or export it with free sides"
            )
        if number not in (0, 1, len(images)):
            raise BadInput(f"the ONNX graph takes {number} images at a time, found {len(images)}; export it for 1")
        if number != 1 or len(images) == 1:
            return _first(self.network(images))
        return torch.cat([_first(self.network(image)) for image in images.split(1)])


def _first(answer: Any) -> Tensor:
    found: Tensor = answer[0] if isinstance(answer, tuple | list) else answer
    return found


def _name_twice(graph: Any) -> None:
    """Exporters store equal weights once and pass them on by Identity, which the converter cannot follow: copy them."""
    weights = {tensor.name: tensor for tensor in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "Identity" and node.input[0] in weights]:
        copy = graph.initializer.add()
        copy.CopyFrom(weights[node.input[0]])
        copy.name = node.output[0]
        graph.node.remove(node)
