"""BatchNorm folded into the convolutions before it: a quicker equal of a model, for searching only."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import fuse_conv_bn_eval

LIMIT = 1e-3  # that logits may differ by on a real image
Pair = tuple[Any, Any]  # convolution, BatchNorm


class Folded(nn.Module):
    """Where a gradient is wanted the folded copy answers, else the model itself, which so has the last word."""

    def __init__(self, exact: nn.Module, quick: nn.Module) -> None:
        super().__init__()
        self.exact, self.quick = exact, quick

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return the logits of every pixel."""
        searching = images.requires_grad and torch.is_grad_enabled()
        logits: Tensor = self.quick(images) if searching else self.exact(images)
        return logits


@dataclass(frozen=True)
class Folding:
    """What became of the attempt to fold a model."""

    model: nn.Module  # the model itself where nothing was folded
    layers: int  # pairs that were folded
    apart: float  # most by which a logit differs


def fold(model: nn.Module, images: Float[Tensor, "b c h w"]) -> Folding:
    """Fold what can be; keep it only if the logits on the given images agree."""
    quick = copy.deepcopy(model)
    pairs = adjacent(quick, images)
    _merge(quick, pairs)
    with torch.no_grad():
        apart = float((quick(images) - model(images)).abs().max())
    if not pairs or not apart <= LIMIT:
        return Folding(model, 0, apart)
    return Folding(Folded(model, quick).requires_grad_(False).eval(), len(pairs), apart)


def adjacent(model: nn.Module, images: Float[Tensor, "b c h w"]) -> list[Pair]:
    """Find convolutions whose every answer goes into one BatchNorm and nowhere else.

    Hooks tell which layer made and took a tensor, the graph of the gradient tells who else used it. This needs no
    tracing of code, so it serves networks with branches and loops as well."""
    outputs: dict[nn.Module, list[Any]] = defaultdict(list)  # convolution -> graph nodes that it made
    inputs: dict[nn.Module, list[Any]] = defaultdict(list)  # BatchNorm -> graph nodes that it took

    def note(layer: nn.Module, taken: tuple[Tensor, ...], made: Tensor) -> None:
        (inputs if _norm(layer) else outputs)[layer].append(taken[0].grad_fn if _norm(layer) else made.grad_fn)

    watched = [layer for layer in model.modules() if _norm(layer) or _convolution(layer)]
    hooks = [layer.register_forward_hook(note) for layer in watched]
    try:
        with torch.enable_grad():
            uses = _uses(model(images.detach().requires_grad_()).grad_fn)
    finally:
        for hook in hooks:
            hook.remove()
    makers = {tuple(nodes): layer for layer, nodes in outputs.items()}
    return [
        (makers[tuple(nodes)], norm)
        for norm, nodes in inputs.items()
        if tuple(nodes) in makers and all(uses[node] == 1 for node in nodes)
    ]


def _convolution(layer: nn.Module) -> bool:
    """Accept exactly these types: a subclass may do something else with its weight."""
    return type(layer) is nn.Conv2d or (type(layer) is nn.ConvTranspose2d and layer.groups == 1)


def _norm(layer: nn.Module) -> bool:
    return type(layer) is nn.BatchNorm2d and not layer.training and layer.running_mean is not None


def _uses(root: Any) -> Counter[Any]:
    """Count how often each node of a gradient's graph is used."""
    uses: Counter[Any] = Counter()
    waiting = [] if root is None else [root]  # a model without gradient has no graph
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is None:  # a weight, which is frozen
                continue
            if node not in uses:
                waiting.append(node)
            uses[node] += 1
    return uses


def _merge(model: nn.Module, pairs: list[Pair]) -> None:
    """Put the folded convolution and a layer that does nothing in the places of each pair."""
    new: dict[nn.Module, nn.Module] = {}
    for convolution, norm in pairs:
        new[convolution] = fuse_conv_bn_eval(convolution, norm, isinstance(convolution, nn.ConvTranspose2d))
        new[norm] = nn.Identity().eval()
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            setattr(parent, name, new.get(child, child))
