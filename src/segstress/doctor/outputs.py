"""What a model gives where logits are expected: probabilities, their logarithms, one-hot maps, random numbers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .flag import Flag

SLACK = 1e-3  # by how much sums of float32 probabilities may miss one
SAME = 1e-4  # difference, relative to the largest logit, that two equal calls may show
SQUASHED = "return the values before the last activation, or wrap the model so that it does"


def judge_outputs(logits: Tensor) -> list[Flag]:
    """Raise at most one flag on the scale of the outputs."""
    inside = bool(logits.min() >= 0 and logits.max() <= 1)
    if inside and _is_zero(logits.sum(1) - 1):
        if bool(((logits == 0) | (logits == 1)).all()):
            return [Flag("one-hot", "outputs are one-hot maps, not logits", "they have no useful gradient", SQUASHED)]
        return [
            Flag("probabilities", "outputs are probabilities, not logits", "so gradients may vanish", SQUASHED),
        ]
    if inside:
        seen = "outputs all lie in [0, 1] without summing to one, as after a sigmoid"
        return [Flag("sigmoid", seen, "the losses squash them a second time, so gradients vanish", SQUASHED)]
    if _is_zero(logits.logsumexp(1)):
        matters = "cross-entropy and margins do not mind, but losses through a sigmoid see other values"
        return [Flag("log-probabilities", "outputs are logarithms of probabilities, not logits", matters, SQUASHED)]
    return []


def judge_repetition(logits: Tensor, again: Tensor) -> list[Flag]:
    """Check whether a second call on the same image gave the same."""
    apart = _apart(logits, again)
    if apart <= SAME:
        return []
    return [
        Flag(
            "stochastic",
            f"two calls on one image differ by {apart:.2g} of the largest output, so it is random (active dropout?)",
            "one pass proves nothing and one gradient is only a draw",
            "make it deterministic, or let every attack average draws, for example pgd?draws=10",
        )
    ]


def judge_company(model: nn.Module, images: Tensor, logits: Tensor) -> list[Flag]:
    """Check whether an image gets the same answer beside another one; one pass over two images."""
    try:
        with torch.no_grad():
            beside = model(torch.cat([images, images / 2]))[:1]  # darker, so that statistics of the batch differ
    except Exception:  # noqa: BLE001 - some models take one image at a time, which is no fault
        return []
    apart = _apart(logits, beside)
    if apart <= SAME:
        return []
    return [
        Flag(
            "company",
            f"an image's outputs change by {apart:.2g} of the largest when another image is in the batch",
            "figures then depend on the batch size (statistics of the batch, as in train mode?)",
            "use the statistics of training, as eval() does, or evaluate with --batch-size 1 and say so",
        )
    ]


def _is_zero(values: Tensor) -> bool:
    return bool(values.abs().max() <= SLACK)


def _apart(one: Tensor, other: Tensor) -> float:
    """Return the largest difference, relative to the largest logit."""
    return float((one - other).abs().max() / one.abs().max().clamp(min=torch.finfo(one.dtype).tiny))
