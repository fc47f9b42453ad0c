"""Preprocessing that cannot be differentiated, attacked as if it changed nothing (BPDA, arXiv:1802.00420)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..core import BadInput
from .functions import find_function

Images = Float[Tensor, "b c h w"]


class Preprocessing:
    """A function of the user's on images in [0, 1]; forward it is itself, backward it is the identity."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function = find_function("preprocess", name)

    def __call__(self, images: Images) -> Images:
        """Apply the function; the gradient goes straight through it."""
        changed: Tensor = StraightThrough.apply(images, self._apply)  # type: ignore[no-untyped-call]
        return changed

    def _apply(self, images: Images) -> Images:
        changed = self.function(images.detach().clone())  # it may work in place
        if not isinstance(changed, Tensor) or changed.shape != images.shape:
            shape = tuple(changed.shape) if isinstance(changed, Tensor) else type(changed).__name__
            raise BadInput(
                f"preprocess {self.name}: expected a tensor {tuple(images.shape)}, like the one given, found {shape}"
            )
        return changed.to(images)


class StraightThrough(torch.autograd.Function):
    """Any function of images whose gradient is taken to be that of the identity."""

    @staticmethod
    def forward(ctx: Any, images: Images, function: Callable[[Tensor], Tensor]) -> Images:
        """Return what the function makes of the images."""
        return function(images)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Return hand the gradient on as it came."""
        return gradients[0], None
