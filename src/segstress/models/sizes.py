"""Graphs that were saved for certain sizes: refused before they run, with the sizes that they take."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..core import BadInput
from .interface import Interface

ENDLESS = sys.maxsize


@dataclass(frozen=True)
class Side:
    """The lengths that a graph takes: multiples of something plus a rest, from least to most."""

    least: int = 1
    most: int = ENDLESS
    multiple: int = 1
    plus: int = 0

    def takes(self, length: int) -> bool:
        """Say whether a length is among them."""
        return self.least <= length <= self.most and (length - self.plus) % self.multiple == 0

    @property
    def single(self) -> int | None:
        """The one length that it takes, where there is only one."""
        return self.least if self.least == self.most else None

    def __str__(self) -> str:
        if self.single is not None:
            return str(self.least)
        steps = f"multiples of {self.multiple}" if self.multiple > 1 else ""
        steps += f" plus {self.plus}" if self.plus else ""
        low = f"from {self.least}" if self.least > max(self.multiple, 2) else ""
        high = f"to {self.most}" if self.most < ENDLESS else ""
        return " ".join(filter(None, (steps, low, high))) or "any"


class Sized(nn.Module):
    """A graph that takes certain sizes, or a certain number of images; one image at a time where it takes but one."""

    def __init__(
        self, network: nn.Module, noun: str, number: Side, height: Side, width: Side, *, square: bool = False
    ) -> None:
        super().__init__()
        self.network = network
        self.noun = noun
        self.number, self.height, self.width, self.square = number, height, width, square

    @property
    def free(self) -> bool:
        """Whether it takes images of any size, in any number."""
        return not self.square and all(str(side) == "any" for side in (self.number, self.height, self.width))

    @property
    def sizes(self) -> str:
        """The sizes that it takes, in words."""
        return f"{self.height} x {self.width}{', as high as wide' if self.square else ''}"

    def forward(self, images: Float[Tensor, "b c h w"]) -> Tensor:
        """Return answer images of a size that the graph takes; refuse others."""
        self._check_size(*images.shape[2:])
        if self.number.takes(len(images)):
            return first(self.network(images))
        if self.number.single != 1:
            wanted = f"{self.number} images at a time, found {len(images)}"
            raise BadInput(f"the {self.noun} takes {wanted}; export it for 1, or for any number")
        return torch.cat([first(self.network(image)) for image in images.split(1)])

    def _check_size(self, height: int, width: int) -> None:
        if self.height.takes(height) and self.width.takes(width) and not (self.square and height != width):
            return
        single = (self.height.single, self.width.single)
        windows = "" if None in single else f", look through windows (window={single[0]},{single[1]})"
        raise BadInput(
            f"the {self.noun} takes images of {self.sizes}, found {height} x {width}; resize the data{windows} or "
            "export it with free sides"
        )


def size_rule(network: nn.Module, interface: Interface) -> str:
    """Say which sizes of images a model takes; empty where nobody knows without trying."""
    graphs = [part for part in network.modules() if isinstance(part, Sized)]
    inside = graphs[0].sizes if graphs else ""
    if interface.window:
        height, width = interface.window
        return f"any, through windows of {height} x {width}"
    if interface.pad:
        rest = f" plus {interface.pad.plus}" if interface.pad.plus else ""
        filled = f"filled up to multiples of {interface.pad.multiple}{rest}"
        return f"{inside}, {filled}" if inside else f"any, {filled}"
    return inside


def first(answer: Any) -> Tensor:
    """Return the first of what a graph gives."""
    logits: Tensor = answer[0] if isinstance(answer, tuple | list) else answer
    return logits
