"""The one adapter: whatever a network wants and returns, images in [0, 1] go in and logits at their size come out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from ..core import BadInput
from . import averaging
from .interface import Interface
from .preprocessing import Preprocessing


class Segmenter(nn.Module):
    """A network behind its interface; differentiable, on any device, in the precision of its weights."""

    mean: Tensor
    std: Tensor

    def __init__(self, network: nn.Module, interface: Interface) -> None:
        super().__init__()
        self.network = network
        self.interface = interface
        self.preprocessing = Preprocessing(interface.preprocess) if interface.preprocess else None
        # Buffers follow the network to its device and precision, and the model's hash sees them.
        self.register_buffer("mean", torch.tensor(interface.mean).view(-1, 1, 1))
        self.register_buffer("std", torch.tensor(interface.std).view(-1, 1, 1))

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return the logits of every pixel."""
        inputs = self.prepare(images)
        logits = self._at_long_side(inputs) if self.interface.long_side else self._answer(inputs)
        self.check_mode()
        return logits

    def _at_long_side(self, images: Tensor) -> Tensor:
        height, width = images.shape[-2:]
        inside = averaging.resized(images, averaging.long_side(height, width, self.interface.long_side or 0))
        return averaging.resized_back(self._answer(inside), (height, width), softmax=self._softmax)

    @property
    def _softmax(self) -> bool:
        """Whether its answer is the logarithm of a mean of softmaxes."""
        several = self.interface.window is not None or self.interface.mirror
        return several and self.interface.average == "softmax"

    def _answer(self, images: Tensor) -> Tensor:
        return self._slide(images) if self.interface.window else self._view(images)

    def _view(self, images: Tensor) -> Tensor:
        if not self.interface.mirror:
            return self._look(images)
        return averaging.mirrored(self._look, images, softmax=self._softmax)

    def prepare(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        """Turn images in [0, 1] into what the network is shown, but for padding."""
        return self.normalise(self.preprocessing(images) if self.preprocessing else images)

    def normalise(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        """Turn images in [0, 1] into what the network sees."""
        wanted, channels = max(len(self.mean), len(self.std)), images.shape[1]
        if wanted not in (1, channels):
            raise BadInput(f"mean and std are for {wanted} channels, found images with {channels}")
        if self.interface.bgr:
            images = images.flip(1)
        if self.interface.scale != 1:
            images = images * self.interface.scale
        if self.interface.mean == (0,) and self.interface.std == (1,):
            return images
        return (images - self.mean) / self.std

    def _slide(self, images: Tensor) -> Tensor:
        """Give every window that sees a pixel equal weight."""
        height, width = images.shape[-2:]
        window = self.interface.window or (height, width)
        stride = self.interface.stride or (-(-2 * window[0] // 3), -(-2 * window[1] // 3))
        looks = images.new_zeros(height, width)
        rows, columns = (_spans(*sides) for sides in zip((height, width), window, stride, strict=True))
        for (top, bottom), (left, right) in product(rows, columns):
            looks[top:bottom, left:right] += 1
        answers = (
            averaging.placed(
                self._view(images[..., top:bottom, left:right]),
                (left, width - right, top, height - bottom),
                softmax=self._softmax,
            )
            for (top, bottom), (left, right) in product(rows, columns)
        )
        return averaging.mean(averaging.add(answers, softmax=self._softmax), looks, softmax=self._softmax)

    def _look(self, images: Tensor) -> Tensor:
        """Run the network once."""
        padded = self.pad(images)
        return self.fit(_pick(self._run(padded)), padded, images)

    def pad(self, images: Tensor) -> Tensor:
        """Fill right and below up to sides that the network takes."""
        pad, (height, width) = self.interface.pad, images.shape[-2:]
        return images if pad is None else functional.pad(images, (0, pad.missing(width), 0, pad.missing(height)))

    def fit(self, logits: Tensor, padded: Tensor, images: Tensor) -> Tensor:
        """Bring what the network says of padded images to the classes and the size of the images."""
        logits = self._classes(logits)
        if logits.shape[-2:] != padded.shape[-2:]:
            logits = self._resize(logits, padded.shape[-2:])
        height, width = images.shape[-2:]
        return logits if padded is images else logits[..., :height, :width]

    def _run(self, images: Tensor) -> Any:
        """Call the network; one that wants to end the program fails on these images, and the run goes on."""
        try:
            return self.network(images)
        except (SystemExit, GeneratorExit) as error:
            raise RuntimeError(f"the network raised {type(error).__name__}({error})") from error

    def _classes(self, logits: Tensor) -> Tensor:
        """Turn one channel z into two classes, (0, z): softmax then is the sigmoid that such a network means."""
        if logits.shape[1] == 1:
            logits = torch.cat([torch.zeros_like(logits), logits], dim=1)
        if not self.interface.drop_outputs:
            return logits
        outputs = range(logits.shape[1])
        if not all(-len(outputs) <= index < len(outputs) for index in self.interface.drop_outputs):
            raise BadInput(f"drop_outputs={self.interface.drop_outputs}: the network has {len(outputs)} outputs")
        dropped = {outputs[index] for index in self.interface.drop_outputs}
        kept = [index for index in outputs if index not in dropped]
        return logits.index_select(1, torch.tensor(kept, device=logits.device))

    def _resize(self, logits: Tensor, size: torch.Size) -> Tensor:
        if self.interface.upsample == "none":
            given, wanted = (f"{height} x {width}" for height, width in (logits.shape[-2:], size))
            raise BadInput(
                f"the network gave logits at {given}, expected {wanted}; set upsample=bilinear to resize them"
            )
        return functional.interpolate(logits, size=tuple(size), mode="bilinear", align_corners=False)

    def check_mode(self) -> None:
        """Refuse a network that would answer otherwise than it is used."""
        awake = [name or "the model itself" for name, module in self.named_modules() if module.training]
        if awake:
            raise BadInput(
                f"expected the model in eval mode, found {awake[0]} in train mode; do not call train() on it"
            )


def _pick(output: Any) -> Tensor:
    """Pick the logits of what networks return: a tensor, `.logits`, `["out"]`, `["logits"]` or the first of a tuple."""
    logits = getattr(output, "logits", output)
    if isinstance(logits, Mapping):
        logits = logits.get("out", logits.get("logits", logits))
    if isinstance(logits, tuple | list) and logits:
        logits = logits[0]
    if not isinstance(logits, Tensor) or logits.ndim != 4:
        shape = f" of shape {tuple(logits.shape)}" if isinstance(logits, Tensor) else ""
        raise BadInput(f"the network returned {type(logits).__name__}{shape}; expected logits (images, classes, h, w)")
    if not logits.is_floating_point() or logits.layout is not torch.strided:
        kind = f"{logits.dtype} {logits.layout}".replace("torch.", "").replace(" strided", "")
        raise BadInput(f"the network returned a tensor of {kind}; expected logits in floating point")
    return logits


def _spans(full: int, window: int, stride: int) -> list[tuple[int, int]]:
    """Say where the windows begin and end along one side; the last is shifted inside."""
    length = min(full, window)
    starts = [*range(0, full - length, stride), full - length]
    return [(start, start + length) for start in starts]
