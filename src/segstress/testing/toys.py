"""Small problems with known answers, on which every attack is tried."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..core import Batch, stream

M = TypeVar("M", bound=nn.Module)
_device: ContextVar[str] = ContextVar("device", default="cpu")


@contextmanager
def toys_on(device: str) -> Iterator[None]:
    """Make toy problems on a device; their numbers are drawn on the CPU, so that they are the same everywhere."""
    token = _device.set(device)
    try:
        yield
    finally:
        _device.reset(token)


def toy_model(classes: int = 4, seed: int = 0) -> nn.Module:
    """Return a small smooth network that sees some context around every pixel, in float64 and in eval mode."""
    network = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Tanh(), nn.Conv2d(8, classes, 3, padding=1, bias=False))
    return _draw_weights(network, seed)


def linear_model(classes: int = 2, seed: int = 0) -> nn.Conv2d:
    """Return a 1x1 convolution: pixels are independent, so the smallest harmful radius is known in closed form."""
    return _draw_weights(nn.Conv2d(3, classes, 1), seed)


def _draw_weights(network: M, seed: int) -> M:
    """Draw random weights, and biases that make mid-grey the point where all classes are equal."""
    generator = stream(seed, "toy", "weights")
    with torch.no_grad():
        for layer in (module for module in network.modules() if isinstance(module, nn.Conv2d)):
            scale = 3 / math.sqrt(layer.weight[0].numel())
            layer.weight.copy_(scale * torch.randn(layer.weight.shape, generator=generator))
            if layer.bias is not None:
                layer.bias.copy_(-0.5 * layer.weight.flatten(1).sum(1))
    return network.double().eval().to(_device.get())


def toy_batch(model: nn.Module, count: int = 3, side: int = 12, *, wide: bool = True, seed: int = 0) -> Batch:
    """Return the images that the model mostly gets right, with void areas that differ; `wide` ones touch 0 and 1."""
    ids = tuple(f"toy-{number}" for number in range(count))
    images = torch.stack(
        [torch.rand((3, side, side), generator=stream(seed, id_, "pixels"), dtype=torch.float64) for id_ in ids]
    )
    images = images.to(next(model.parameters()).device)
    images = (1.6 * images - 0.3).clamp(0, 1) if wide else 0.4 + 0.2 * images
    with torch.no_grad():
        labels = model(images).argmax(1)
    labels[:, ::5, ::4] = 0  # some pixels are wrong from the start
    valid = torch.ones_like(labels, dtype=torch.bool)
    for number in range(count):
        valid[number, : number + 1] = False
    return Batch(ids=ids, images=images, labels=labels.masked_fill(~valid, 0), valid=valid)


def scaled_batch(model: nn.Conv2d, optimum: float, side: int = 12, *, enough: float = 0.99, seed: int = 0) -> Batch:
    """Return one image around mid-grey whose smallest linf radius is `optimum`: margins shrink with the contrast."""
    batch = toy_batch(model, 1, side, wide=False, seed=seed)
    contrast = optimum / float(smallest_radius(model, batch, enough))
    return replace(batch, images=0.5 + contrast * (batch.images - 0.5))


def smallest_radius(model: nn.Conv2d, batch: Batch, enough: float, norm: str = "linf") -> Float[Tensor, " b"]:
    """Return the exact radius at which a share `enough` of a linear model's valid pixels is wrong, the box inactive."""
    with torch.no_grad():
        logits = model(batch.images)
    weights = model.weight[:, :, 0, 0]
    steepness = torch.cdist(weights, weights, p=1 if norm == "linf" else 2)[batch.labels].movedim(-1, 1)
    lead = logits.gather(1, batch.labels[:, None]) - logits  # of the true class over every other
    radii = (lead / steepness).masked_fill(steepness == 0, math.inf).amin(1).clamp(min=0)
    smallest = []
    for radius, valid in zip(radii, batch.valid, strict=True):
        ordered = radius[valid].sort().values[: math.ceil(enough * int(valid.sum()))]
        smallest.append(ordered[-1] if norm == "linf" else ordered.square().sum().sqrt())
    return torch.stack(smallest).detach()
