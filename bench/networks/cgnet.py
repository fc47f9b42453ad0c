"""CGNet (Wu et al. 2018, arXiv:1811.08201), three stages of 21 guided blocks."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from .layers import CLASSES, Active, convolution

MEAN = (105.6577, 103.3298, 99.6254)  # of CamVid, red first


class Guided(nn.Module):
    """CGNet's block: a pixel's neighbours near and far, weighed by the whole image."""

    def __init__(self, inputs: int, outputs: int, dilation: int, reduction: int, shrink: bool = False) -> None:
        super().__init__()
        inner = outputs if shrink else outputs // 2
        first = convolution(inputs, inner, 3, stride=2) if shrink else convolution(inputs, inner)
        self.shrink, self.squeeze = shrink, Active(inner, first)
        self.near = convolution(inner, inner, 3, groups=inner)
        self.far = convolution(inner, inner, 3, groups=inner, dilation=dilation)
        self.join = Active(2 * inner)
        self.reduce = convolution(2 * inner, outputs) if shrink else nn.Identity()
        narrow = outputs // reduction
        self.gate = nn.Sequential(nn.Linear(outputs, narrow), nn.ReLU(), nn.Linear(narrow, outputs), nn.Sigmoid())

    def forward(self, features: Tensor) -> Tensor:
        inner = self.squeeze(features)
        joint = self.reduce(self.join(torch.cat([self.near(inner), self.far(inner)], 1)))
        gated = joint * self.gate(joint.mean((2, 3)))[:, :, None, None]
        return gated if self.shrink else features + gated


class CGNet(nn.Module):
    """Three stages; the image itself is handed to each."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(
            Active(32, convolution(3, 32, 3, stride=2)), *(Active(32, convolution(32, 32, 3)) for _ in range(2))
        )
        self.join1 = Active(35)
        self.down2 = Guided(35, 64, 2, 8, shrink=True)
        self.stage2 = nn.Sequential(*(Guided(64, 64, 2, 8) for _ in range(2)))
        self.join2 = Active(131)
        self.down3 = Guided(131, 128, 4, 16, shrink=True)
        self.stage3 = nn.Sequential(*(Guided(128, 128, 4, 16) for _ in range(20)))
        self.join3 = Active(256)
        self.classify = convolution(256, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        mean = images.new_tensor(MEAN)[:, None, None]
        images = 255 * images - mean
        half = functional.avg_pool2d(images, 3, 2, 1)
        features = self.join1(torch.cat([self.first(images), half], 1))
        down = self.down2(features)
        features = self.join2(torch.cat([self.stage2(down), down, functional.avg_pool2d(half, 3, 2, 1)], 1))
        down = self.down3(features)
        logits = self.classify(self.join3(torch.cat([down, self.stage3(down)], 1)))
        return functional.interpolate(logits, images.shape[-2:], mode="bilinear", align_corners=False)
