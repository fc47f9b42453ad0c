"""Networks that tests bring through the factory: one that is sound, and one for each way to be wrong."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class Tiny(nn.Module):
    """Two convolutions with fixed weights."""

    def __init__(self, classes: int = 7) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.second = nn.Conv2d(6, classes, 3, padding=1)
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator) / 3)

    def forward(self, images):
        return self.second(torch.tanh(self.first(images - 0.5)))


class Soft(Tiny):
    def forward(self, images):
        return super().forward(images).softmax(1)


class Coarse(Tiny):
    def forward(self, images):
        return super().forward(images)[..., ::2, ::2]


class Blurred(Tiny):
    """Sees every image out of focus."""

    def forward(self, images):
        return super().forward(functional.avg_pool2d(images, 5, 1, 2))


class NotANumber(Tiny):
    """NaN wherever an image is brighter than most."""

    def forward(self, images):
        logits = super().forward(images)
        bright = images.mean((1, 2, 3)) > images.new_tensor(0.5)
        return torch.where(bright[:, None, None, None], torch.nan, logits)


class Raising(Tiny):
    """Refuses bright images."""

    def forward(self, images):
        if (images.mean((1, 2, 3)) > 0.5).any():
            raise RuntimeError("too bright for me")
        return super().forward(images)


class Dropping(Tiny):
    def forward(self, images):
        return functional.dropout(super().forward(images), 0.5, training=True)


class Training(Tiny):
    """Falls back into train mode at every call."""

    def forward(self, images):
        self.first.train()
        return super().forward(images)


class NoGradient(Tiny):
    @torch.no_grad()
    def forward(self, images):
        return super().forward(images)


class Flat(Tiny):
    """Has a gradient, which is zero."""

    def forward(self, images):
        return super().forward((images * 4).round() / 4)


def tiny(classes: int = 7) -> nn.Module:
    return Tiny(classes)


def soft() -> nn.Module:
    return Soft()


def coarse() -> nn.Module:
    return Coarse()


def blurred(classes: int = 7) -> nn.Module:
    return Blurred(classes)


def not_a_number() -> nn.Module:
    return NotANumber()


def raising() -> nn.Module:
    return Raising()


def dropping() -> nn.Module:
    return Dropping()


def training() -> nn.Module:
    return Training().train()


def no_gradient() -> nn.Module:
    return NoGradient()


def flat() -> nn.Module:
    return Flat()


class Failing(Tiny):
    """Raises on every image."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Raise."""
        raise ValueError("out of order")


def failing() -> nn.Module:
    return Failing()
