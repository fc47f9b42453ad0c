"""A segmentor of mmsegmentation as a function of images, with its heads for training."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional


class Whole(nn.Module):
    """A segmentor of mmseg as a function of normalised images; a binary head's threshold is moved to logit 0."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        head: Any = network.decode_head
        last: Any = head[-1] if isinstance(head, nn.ModuleList) else head
        self.shift = math.log(last.threshold / (1 - last.threshold)) if last.out_channels == 1 else 0.0

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return logits at the size of the images, resized by the segmentor itself."""
        size = images.shape[-2:]
        facts = {"ori_shape": size, "img_shape": size, "pad_shape": size, "padding_size": [0] * 4}
        segmentor: Any = self.network
        logits: Tensor = segmentor.encode_decode(images, [dict(facts) for _ in images])
        return logits - self.shift if self.shift else logits

    def heads(self, images: Float[Tensor, "b c h w"]) -> dict[str, Tensor]:
        """Return the logits of the last decoder, of earlier stages of a cascade, and of heads for training alone."""
        segmentor: Any = self.network
        features = segmentor.extract_feat(images)
        stages = _modules(segmentor.decode_head)
        answers: list[tuple[Any, Tensor]] = []
        before: tuple[Any, ...] = ()
        for head in stages:
            before = (head(features, *before),)
            answers.append((head, before[0]))
        answers += [(head, head(features)) for head in _modules(getattr(segmentor, "auxiliary_head", None))]
        logits = [
            functional.interpolate(answer, images.shape[-2:], mode="bilinear", align_corners=head.align_corners)
            for head, answer in answers
        ]
        main = logits.pop(len(stages) - 1)
        return {"main": main - self.shift, **{f"auxiliary-{number}": other for number, other in enumerate(logits)}}

    def head_parameters(self) -> Iterator[nn.Parameter]:
        """Yield all behind the backbone and its neck."""
        for part in ("decode_head", "auxiliary_head"):
            for head in _modules(getattr(self.network, part, None)):
                yield from head.parameters()


def _modules(heads: Any) -> list[Any]:
    """Return the heads of a segmentor's part: none, one or several."""
    return [] if heads is None else list(heads) if isinstance(heads, nn.ModuleList) else [heads]
