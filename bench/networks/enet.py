"""ENet (Paszke et al. 2016, arXiv:1606.02147)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from .layers import CLASSES, convolution


class Bottleneck(nn.Module):
    """ENet's block: squeeze, convolve, expand, and add to what came in."""

    def __init__(self, inputs: int, outputs: int, kind: str = "regular", dilation: int = 1) -> None:
        super().__init__()
        self.kind, inner = kind, inputs // 4
        if kind == "up":
            self.main = nn.Sequential(convolution(inputs, outputs), nn.BatchNorm2d(outputs))
        first = nn.Conv2d(inputs, inner, 2, stride=2, bias=False) if kind == "down" else convolution(inputs, inner)
        self.squeeze = self._active(first, inner)
        if kind == "up":
            middle = [nn.ConvTranspose2d(inner, inner, 3, 2, padding=1, output_padding=1, bias=False)]
        elif kind == "asymmetric":
            middle = [*self._active(convolution(inner, inner, (5, 1)), inner), convolution(inner, inner, (1, 5))]
        else:
            middle = [convolution(inner, inner, 3, dilation=dilation)]
        self.convolve = nn.Sequential(*middle, nn.BatchNorm2d(inner), nn.PReLU())
        self.expand = self._active(convolution(inner, outputs), outputs)
        self.activate = nn.PReLU(outputs)

    @staticmethod
    def _active(layer: nn.Module, channels: int) -> nn.Sequential:
        return nn.Sequential(layer, nn.BatchNorm2d(channels), nn.PReLU())

    def forward(self, features: Tensor, places: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        branch, main = self.expand(self.convolve(self.squeeze(features))), features
        if self.kind == "down":
            main, places = functional.max_pool2d(features, 3, 2, 1, return_indices=True)
            main = functional.pad(main, (0, 0, 0, 0, 0, branch.shape[1] - main.shape[1]))
        elif self.kind == "up":
            main = functional.max_unpool2d(self.main(features), places, 2, output_size=branch.shape[-2:])
        return self.activate(main + branch), places


class ENet(nn.Module):
    """Twenty-three bottlenecks; two of them shrink the map, two grow it back."""

    MIDDLE = (1, 2, None, 4, 1, 8, None, 16)  # dilations; none = asymmetric

    def __init__(self) -> None:
        super().__init__()
        self.first = convolution(3, 13, 3, stride=2)
        self.norm, self.activate = nn.BatchNorm2d(16), nn.PReLU(16)
        self.down = Bottleneck(16, 64, "down")
        self.early = nn.ModuleList(Bottleneck(64, 64) for _ in range(4))
        self.deeper = Bottleneck(64, 128, "down")
        self.middle = nn.ModuleList(
            Bottleneck(128, 128, "regular" if dilation else "asymmetric", dilation or 1) for dilation in 2 * self.MIDDLE
        )
        self.rise = Bottleneck(128, 64, "up")
        self.late = nn.ModuleList(Bottleneck(64, 64) for _ in range(2))
        self.up = Bottleneck(64, 16, "up")
        self.last = Bottleneck(16, 16)
        self.classify = nn.ConvTranspose2d(16, CLASSES + 1, 3, 2, padding=1, output_padding=1, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        features = torch.cat([self.first(images), functional.max_pool2d(images, 3, 2, 1)], 1)
        features, outer = self.down(self.activate(self.norm(features)))
        for block in self.early:
            features, _ = block(features)
        features, inner = self.deeper(features)
        for block in self.middle:
            features, _ = block(features)
        features, _ = self.rise(features, inner)
        for block in self.late:
            features, _ = block(features)
        features, _ = self.last(self.up(features, outer)[0])
        return self.classify(features)[:, :CLASSES]
