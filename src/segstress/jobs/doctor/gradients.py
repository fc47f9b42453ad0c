"""Does a useful gradient reach the image? Judged on the outputs themselves and on cross-entropy."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...core import Batch
from .flag import Flag

DEAD = 0.1  # share of pixels without a gradient from which on it is worth a word
ADVICE = (
    "look for no_grad, detach, rounding, argmax or clamping inside forward; only attacks without gradients are left"
)


def judge_gradients(model: nn.Module, batch: Batch) -> list[Flag]:
    """At most one flag; one forward and two backward passes."""
    images = batch.images.detach().clone().requires_grad_()
    with torch.enable_grad():
        logits = model(images)
        if not logits.requires_grad:
            return [_without("no gradient reaches the images")]
        dead = _dead(logits.logsumexp(1).sum() - logits.sum(), images, again=True)
        if dead == 1:
            return [_without("the gradient with respect to the images is zero everywhere")]
        if dead > DEAD:
            return [
                Flag("zero-gradient", f"{dead:.0%} of the pixels {LACK}", "attacks cannot use those pixels", ADVICE)
            ]
        labels = torch.where(batch.valid, batch.labels, logits.argmax(1))
        stale = _dead(functional.cross_entropy(logits, labels, reduction="sum"), images)
    return [_saturated(stale)] if stale > DEAD else []


LACK = "have a gradient that is zero or not a number"


def _dead(loss: Tensor, images: Tensor, *, again: bool = False) -> float:
    """The share of pixels that a loss gives no gradient, or none that is a number."""
    (gradient,) = torch.autograd.grad(loss, images, retain_graph=again, allow_unused=True)
    if gradient is None:
        return 1.0
    usable = (torch.isfinite(gradient) & (gradient != 0)).any(1)
    return 1 - float(usable.double().mean())


def _without(seen: str) -> Flag:
    return Flag("no-gradient", seen, "so it cannot be attacked through its gradient", ADVICE)


def _saturated(share: float) -> Flag:
    return Flag(
        "saturated",
        f"under cross-entropy {share:.0%} of the pixels {LACK}, though the outputs themselves have one",
        "logits are so large that the softmax is flat, and attacks on cross-entropy stand still",
        "use attacks on the logits (apgd-margin, apgd-dlr, padam-cos), or divide the logits by a temperature",
    )
