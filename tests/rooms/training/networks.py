"""Small networks to train: one with all that makes resuming hard, one that several processes can train as one."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Small(nn.Module):
    """Two convolutions with a norm between them, and a second head."""

    def __init__(self, norm: nn.Module, dropout: float = 0.0, classes: int = 7) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), norm, nn.ReLU(), nn.Dropout(dropout))
        self.main, self.deep = nn.Conv2d(8, classes, 1), nn.Conv2d(8, classes, 1)

    def forward(self, images: Tensor) -> Tensor:
        return self.main(self.features(images))

    def heads(self, images: Tensor) -> dict[str, Tensor]:
        features = self.features(images)
        return {"main": self.main(features), "deep": self.deep(features)}

    def head_parameters(self):
        yield from self.main.parameters()
        yield from self.deep.parameters()


class Doomed(Small):
    """Gives no numbers from the fifth forward pass in train mode on."""

    passes = 0

    def heads(self, images: Tensor) -> dict[str, Tensor]:
        self.passes += self.training
        return {name: logits * (1 if self.passes < 5 else torch.nan) for name, logits in super().heads(images).items()}


def _seeded(make) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return make()


def restless(classes: int = 7) -> nn.Module:
    """Batch norm, which remembers, and dropout, which draws."""
    return _seeded(lambda: Small(nn.BatchNorm2d(8), dropout=0.2, classes=classes))


def grouped(classes: int = 7) -> nn.Module:
    """Group norm: an image does not see its neighbours."""
    return _seeded(lambda: Small(nn.GroupNorm(2, 8), classes=classes))


def plain(classes: int = 7) -> nn.Module:
    """A network that tells nothing of heads."""
    return _seeded(lambda: nn.Conv2d(3, classes, 1))


def moved() -> nn.Module:
    """The grouped one with every weight one more."""
    network = grouped()
    network.load_state_dict({name: tensor + 1 for name, tensor in network.state_dict().items()})
    return network


def doomed() -> nn.Module:
    """One whose loss turns NaN."""
    return _seeded(lambda: Doomed(nn.BatchNorm2d(8)))
