"""Optimisers by name, with heads that may learn faster than the features below them."""

from __future__ import annotations

from typing import Annotated, Protocol, runtime_checkable

import torch
from pydantic import Field
from torch import nn

from ..core import Registry, settings
from .trainee import Trainee

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


@runtime_checkable
class Optimiser(Protocol):
    """Settings of an optimiser."""

    def make(self, network: Trainee) -> torch.optim.Optimizer:
        """Return the optimiser of a network's parameters; each group remembers its full rate as `full`."""
        ...


optimisers: Registry[Optimiser] = Registry("optimiser")


@optimisers.register("sgd")
@settings
class SGD:
    """Momentum, and heads at ten times the rate: the published recipe of PSPNet and DeepLabV3."""

    rate: Positive = 0.01
    heads: Positive = 10.0  # times the rate, for the network's heads
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    decay: NotNegative = 1e-4  # of weights

    def make(self, network: Trainee) -> torch.optim.Optimizer:
        """Return one group for the features and one for the heads."""
        groups = [
            {"params": parameters, "full": rate, "weight_decay": self.decay}
            for parameters, rate in _by_place(network, self.rate, self.heads)
        ]
        return torch.optim.SGD(groups, lr=self.rate, momentum=self.momentum)


@optimisers.register("adamw")
@settings
class AdamW:
    """Adam with decoupled decay, which spares biases and norms (Loshchilov and Hutter 2019, arXiv:1711.05101)."""

    rate: Positive = 1e-3
    heads: Positive = 1.0  # times the rate, for the network's heads
    decay: NotNegative = 0.01  # of weights

    def make(self, network: Trainee) -> torch.optim.Optimizer:
        """Group parameters by part of the network and by whether decay applies."""
        groups = [
            {"params": group, "full": rate, "weight_decay": self.decay if decays else 0.0}
            for parameters, rate in _by_place(network, self.rate, self.heads)
            for decays in (True, False)
            if (group := [parameter for parameter in parameters if (parameter.ndim > 1) == decays])
        ]
        return torch.optim.AdamW(groups, lr=self.rate, fused=True)  # a third of the time of many small updates


def _by_place(network: Trainee, rate: float, faster: float) -> list[tuple[list[nn.Parameter], float]]:
    """Return features and heads with their rates; a network that does not tell its heads apart is all features."""
    heads = list(network.head_parameters())
    known = {id(parameter) for parameter in heads}
    features = [parameter for parameter in network.parameters() if id(parameter) not in known]
    return [(part, speed) for part, speed in ((features, rate), (heads, faster * rate)) if part]
