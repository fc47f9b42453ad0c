"""ESPNet (Mehta et al. 2018, arXiv:1803.06815), two and eight blocks deep."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from .layers import CLASSES, Active, convolution

MEAN = (110.3310, 108.4089, 105.0332)  # of CamVid, blue first
DEVIATION = (72.1257, 72.6907, 69.9043)


class Pyramid(nn.Module):
    """ESPNet's block: one narrow map seen at five dilations, summed one after the other."""

    def __init__(self, inputs: int, outputs: int, first: nn.Module | None = None, add: bool = True) -> None:
        super().__init__()
        narrow, self.add = outputs // 5, add
        self.reduce = convolution(inputs, narrow) if first is None else first
        self.near = convolution(narrow, outputs - 4 * narrow, 3)
        self.far = nn.ModuleList(convolution(narrow, narrow, 3, dilation=2**power) for power in range(1, 5))
        self.join = Active(outputs)

    def forward(self, features: Tensor) -> Tensor:
        narrow = self.reduce(features)
        maps = [self.near(narrow), self.far[0](narrow)]
        for layer in self.far[1:]:
            maps.append(maps[-1] + layer(narrow))
        joint = torch.cat(maps, 1)
        return self.join(joint + features if self.add else joint)


class ESPNet(nn.Module):
    """A pyramid encoder and a light decoder; two and eight blocks deep."""

    def __init__(self) -> None:
        super().__init__()
        outputs = CLASSES + 1
        self.first = Active(16, convolution(3, 16, 3, stride=2))
        self.join1 = Active(19)
        self.down2 = Pyramid(19, 64, convolution(19, 12, 3, stride=2), add=False)
        self.stage2 = nn.Sequential(*(Pyramid(64, 64) for _ in range(2)))
        self.join2 = Active(131)
        self.down3 = Pyramid(131, 128, convolution(131, 25, 3, stride=2), add=False)
        self.stage3 = nn.Sequential(*(Pyramid(128, 128) for _ in range(8)))
        self.join3 = Active(256)
        self.coarse = convolution(256, outputs)
        self.aside = convolution(131, outputs)
        self.norm = nn.BatchNorm2d(outputs, eps=1e-3)
        self.fine = Active(outputs, convolution(outputs + 19, outputs, 3))
        self.up3 = nn.ConvTranspose2d(outputs, outputs, 2, 2, bias=False)
        self.combine = nn.Sequential(Active(2 * outputs), Pyramid(2 * outputs, outputs, add=False))
        self.up2 = Active(outputs, nn.ConvTranspose2d(outputs, outputs, 2, 2, bias=False))
        self.classify = nn.ConvTranspose2d(outputs, outputs, 2, 2, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        mean, deviation = (images.new_tensor(numbers)[:, None, None] for numbers in (MEAN, DEVIATION))
        images = (255 * images.flip(1) - mean) / deviation / 255
        half = functional.avg_pool2d(images, 3, 2, 1)
        shallow = self.join1(torch.cat([self.first(images), half], 1))
        down = self.down2(shallow)
        middle = self.join2(torch.cat([self.stage2(down), down, functional.avg_pool2d(half, 3, 2, 1)], 1))
        down = self.down3(middle)
        deep = self.coarse(self.join3(torch.cat([down, self.stage3(down)], 1)))
        joint = self.up2(self.combine(torch.cat([self.aside(middle), self.up3(self.norm(deep))], 1)))
        return self.classify(self.fine(torch.cat([joint, shallow], 1)))[:, :CLASSES]
