"""Heads of networks that frameworks make, offered as training asks ours: `heads(images)`, `head_parameters()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn


def tell_heads(network: nn.Module, *parts: str, answer: Callable[[Any], Mapping[str, Tensor]]) -> nn.Module:
    """Let a network tell which parts are heads, those that it has, and what each says; its weights keep their names."""
    methods = {"heads": partial(_heads, network, answer), "head_parameters": partial(_parameters, network, parts)}
    network.__dict__.update(methods)
    return network


def _heads(network: nn.Module, answer: Callable[[Any], Mapping[str, Tensor]], images: Tensor) -> dict[str, Tensor]:
    return dict(answer(network(images)))


def _parameters(network: nn.Module, parts: tuple[str, ...]) -> Iterator[nn.Parameter]:
    for part in parts:
        module = getattr(network, part, None)
        if module is not None:
            yield from module.parameters()
