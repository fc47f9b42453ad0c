"""Networks saved as ONNX, turned into torch modules so that they have gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import nn

from ..core import BadInput, settings
from ..core.quantities import Pixels
from .frameworks import framework
from .model import FileModel, first_line, models
from .sizes import Side, Sized, first

TOLERANCE = 1e-3  # largest difference to onnxruntime, as a share of the largest output


@models.register("onnx")
@settings
class Onnx(FileModel):
    """A network in an ONNX file: `onnx:mine.onnx`; refused when its torch twin answers otherwise than onnxruntime."""

    size: Pixels = 64  # side of the image for that comparison where the file leaves it open

    def network(self) -> nn.Module:
        """Make the torch twin, and compare it with the original on a random image."""
        with framework("onnx"):
            import onnx
            import onnx2pytorch
            import onnxruntime
        if not self.path.is_file():
            raise BadInput(f"model '{self.path}' does not exist; expected an ONNX file")
        try:
            session = onnxruntime.InferenceSession(self.file, providers=["CPUExecutionProvider"])
            model = onnx.load(self.file)
            _name_twice(model.graph)
            with warnings.catch_warnings(action="ignore"):  # that results might differ: the comparison tells
                network: nn.Module = onnx2pytorch.ConvertModel(model).eval()
            difference = self._difference(network, session)
        except Exception as error:  # what the three raise has no other base in common
            raise BadInput(f"model '{self.path}' cannot be turned into torch: {first_line(error)}") from error
        if not difference <= TOLERANCE:
            raise BadInput(f"model '{self.path}': its torch twin differs from onnxruntime by {difference:.1%}")
        number, _, height, width = (
            Side(side, side) if isinstance(side, int) else Side() for side in session.get_inputs()[0].shape
        )
        sized = Sized(network, "ONNX graph", number, height, width)
        return network if sized.free else sized

    def _difference(self, network: nn.Module, session: Any) -> float:
        """Measure the largest difference between the two, as a share of the largest output."""
        entry, free = session.get_inputs()[0], (1, 3, self.size, self.size)
        shape = [side if isinstance(side, int) else other for side, other in zip(entry.shape, free, strict=True)]
        image = np.random.default_rng(0).random(shape, dtype=np.float32)
        expected = session.run(None, {entry.name: image})[0]
        with torch.no_grad():
            answer = network(torch.from_numpy(image))
        logits = first(answer).numpy()
        return float(np.abs(logits - expected).max() / np.abs(expected).max())


def _name_twice(graph: Any) -> None:
    """Copy weights that exporters store once and pass on by Identity, which the converter cannot follow."""
    weights = {tensor.name: tensor for tensor in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "Identity" and node.input[0] in weights]:
        copy = graph.initializer.add()
        copy.CopyFrom(weights[node.input[0]])
        copy.name = node.output[0]
        graph.node.remove(node)
