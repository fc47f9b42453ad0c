"""A small U-Net (Ronneberger et al. 2015, arXiv:1505.04597); its group norm keeps the images of a batch apart."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional


def _block(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False), nn.GroupNorm(8, outputs), nn.ReLU()
    )


class UNet(nn.Module):
    """Features at 1/2, 1/4, 1/8 and 1/16; on the way back each meets, side by side, what was seen at its size."""

    def __init__(self, classes: int, channels: int = 3) -> None:
        super().__init__()
        widths = (24, 40, 64, 96)
        self.down = nn.ModuleList(
            nn.Sequential(_block(inputs, outputs, stride=2), _block(outputs, outputs))
            for inputs, outputs in zip((channels, *widths), widths, strict=False)
        )
        self.up = nn.ModuleList(
            _block(coarse + fine, fine) for coarse, fine in zip(widths[:0:-1], widths[-2::-1], strict=True)
        )
        self.classify = nn.Conv2d(widths[0], classes, 1)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks it

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return logits at the size of the images."""
        features = ((images - 0.5) / 0.2).contiguous(memory_format=torch.channels_last)
        seen = []
        for step in self.down:
            features = step(features)
            seen.append(features)
        for step, finer in zip(self.up, seen[-2::-1], strict=True):
            features = step(torch.cat([_grow(features, finer), finer], dim=1))
        return _grow(self.classify(features).contiguous(), images)

    def heads(self, images: Float[Tensor, "b c h w"]) -> dict[str, Tensor]:
        """Return logits by head, for training."""
        return {"main": self(images)}

    def head_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the way back: what a recipe may train faster."""
        for part in (self.up, self.classify):
            yield from part.parameters()


def _grow(features: Tensor, like: Tensor) -> Tensor:
    return functional.interpolate(features, size=like.shape[-2:], mode="bilinear", align_corners=False)
