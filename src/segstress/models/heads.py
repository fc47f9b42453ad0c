"""Heads of networks that frameworks make, offered as training asks ours: `heads(images)`, `head_parameters()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn


def tell_heads(
    network: nn.Module, *parts: str, answer: Callable[[Any], Mapping[str, Tensor]], auxiliary: str = ""
) -> nn.Module:
    """Let a network tell which parts are heads, those that it has, and what each says; its weights keep their names.

    A head that speaks while the network goes forward, and is not in its answer, is named by `auxiliary`."""
    heads = partial(_heads, network, answer, auxiliary)
    network.__dict__.update({"heads": heads, "head_parameters": partial(_parameters, network, parts)})
    return network


def _heads(
    network: nn.Module, answer: Callable[[Any], Mapping[str, Tensor]], auxiliary: str, images: Tensor
) -> dict[str, Tensor]:
    head = getattr(network, auxiliary, None) if auxiliary else None
    if head is None:
        return dict(answer(network(images)))
    heard: list[Tensor] = []
    hook = head.register_forward_hook(lambda module, inputs, output: heard.append(output))
    try:
        answers = answer(network(images))
    finally:
        hook.remove()
    return {**answers, auxiliary: heard[-1]}


def _parameters(network: nn.Module, parts: tuple[str, ...]) -> Iterator[nn.Parameter]:
    for part in parts:
        module = getattr(network, part, None)
        if module is not None:
            yield from module.parameters()
