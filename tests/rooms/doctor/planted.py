"""The embedded CNN with one fault each, for the doctor to find."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from segstress.models import models


class Sound(nn.Module):
    """The CNN as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.network = models.build("compact:cnn-normal").network().requires_grad_(False)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, images):
        return self.network(images)


class Soft(Sound):
    def forward(self, images):
        return super().forward(images).softmax(1)


class Logarithm(Sound):
    def forward(self, images):
        return super().forward(images).log_softmax(1)


class Squashed(Sound):
    def forward(self, images):
        return super().forward(images).sigmoid()


class OneHot(Sound):
    def forward(self, images):
        logits = super().forward(images)
        return functional.one_hot(logits.argmax(1), logits.shape[1]).movedim(-1, 1) + 0 * logits


class Dropping(Sound):
    def forward(self, images):
        return functional.dropout(super().forward(images), 0.2, training=True)


class Waking(Sound):
    """Falls back into train mode at every call."""

    def forward(self, images):
        self.network.train()
        return super().forward(images)


class Purifying(Sound):
    """Moves the image uphill before it looks at it."""

    def forward(self, images):
        with torch.enable_grad():
            copy = images.detach().clone().requires_grad_()
            (slope,) = torch.autograd.grad(super().forward(copy).amax(1).sum(), copy)
        return super().forward(images + 1e-3 * slope.sign())


class Counting(Sound):
    """Changes a buffer and nothing else."""

    def forward(self, images):
        self.calls += 1
        return super().forward(images)


class Drifting(Sound):
    """Gets bolder from call to call."""

    def forward(self, images):
        self.calls += 1
        return super().forward(images) * (1 + 0.01 * self.calls)


class Company(Sound):
    """Normalises by the statistics of the batch."""

    def forward(self, images):
        return super().forward(images) - super().forward(images).mean((0, 2, 3), keepdim=True) / 10


class Rounding(Sound):
    def forward(self, images):
        return super().forward((images * 255).round() / 255)


class HalfBlind(Sound):
    """No gradient reaches the left half."""

    def forward(self, images):
        middle = images.shape[-1] // 2
        return super().forward(torch.cat([images[..., :middle].detach(), images[..., middle:]], dim=-1))


class Loud(Sound):
    def forward(self, images):
        return 1e4 * super().forward(images)


class WantsBytes(Sound):
    def forward(self, images):
        return super().forward(images / 255)


class WantsNormalised(Sound):
    def forward(self, images):
        mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
        return super().forward(images * std.view(-1, 1, 1) + mean.view(-1, 1, 1))


class Overflowing(Sound):
    def forward(self, images):
        return super().forward(images) / images.new_zeros(())


class Raising(Sound):
    def forward(self, images):
        raise RuntimeError("out of order")


class Misleading(Sound):
    """Right answers with the gradient turned round."""

    def forward(self, images):
        return super().forward(2 * images.detach() - images)


class Stubborn(Sound):
    """Remembers one answer and hardly looks."""

    def forward(self, images):
        background = torch.eye(7)[0].view(1, -1, 1, 1)
        return 10 * background + 1e-3 * super().forward(images)


class FineGrained(Sound):
    """Turned round by what lies between two grey levels, and by nothing else."""

    def forward(self, images):
        levels = 255 * images
        off = (levels - levels.round()).abs().mean(1, keepdim=True)
        return super().forward(images) * (1 - 8 * off)


def plant(kind: str) -> nn.Module:
    """The faulty model by that name."""
    return globals()[kind]()
