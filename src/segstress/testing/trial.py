"""How a check tries an algorithm and counts what is left."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..attacks import Algorithm, Attack, needs_weights
from ..core import Batch, Norm, Perturbed, Threat
from ..metrics.counts import predict

RADIUS = 0.1
WEIGHTS = (0.1, 0.4, 0.2, 0.3)  # of the toy problem's classes, for attacks that ask for those of a training split


def attack_of(algorithm: Algorithm, radius: float = RADIUS, norm: Norm = "linf", **where: object) -> Attack:
    """Return the algorithm as an attack, by default inside a ball in which it should do harm."""
    weights = WEIGHTS if needs_weights(algorithm) else ()
    given = {"threat": Threat(norm=norm, radius=radius), "weights": weights} | where
    return Attack(algorithm=algorithm, **given)  # type: ignore[arg-type]


def remaining(model: nn.Module, batch: Batch, images: Tensor) -> Tensor:
    """Return valid pixels still right, by a fresh forward pass."""
    with torch.no_grad():
        return ((predict(model(images)) == batch.labels) & batch.valid).flatten(1).sum(1)


def perturb(attack: Attack, model: nn.Module, batch: Batch, seed: int = 0) -> Perturbed:
    """Return what it makes of a batch."""
    return attack.perturb(model, batch, seed)
