"""Does a useful gradient reach the image, through the model and through cross-entropy?"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .flag import Flag

DEAD = 0.1  # share of pixels without a gradient from which on it is worth a word
ADVICE = (
    "look for no_grad, detach, rounding, argmax or clamping inside forward; only attacks without gradients are left"
)


def judge_gradients(model: nn.Module, images: Tensor) -> list[Flag]:
    """Raise at most one flag; one forward and one backward pass."""
    images = images.detach().clone().requires_grad_()
    with torch.enable_grad():
        logits = model(images)
    if not logits.requires_grad:
        return [_without("no gradient reaches the images")]
    dead = _dead(logits, images)
    if dead == 1:
        return [_without("the gradient with respect to the images is zero everywhere")]
    if dead > DEAD:
        seen = f"{dead:.0%} of the pixels have a gradient that is zero or not a number"
        return [Flag("zero-gradient", seen, "attacks cannot use those pixels", ADVICE)]
    flat = float(((logits.softmax(1) > 0).sum(1) == 1).double().mean())  # all other classes underflow
    return [_saturated(flat)] if flat > DEAD else []


def _dead(logits: Tensor, images: Tensor) -> float:
    """Return the share of pixels with no gradient, or none that is a number; the loss is one that is nowhere flat."""
    (gradient,) = torch.autograd.grad(logits.logsumexp(1).sum() - logits.sum(), images, allow_unused=True)
    if gradient is None:
        return 1.0
    usable = (torch.isfinite(gradient) & (gradient != 0)).any(1)
    return 1 - float(usable.double().mean())


def _without(seen: str) -> Flag:
    return Flag("no-gradient", seen, "so it cannot be attacked through its gradient", ADVICE)


def _saturated(share: float) -> Flag:
    return Flag(
        "saturated",
        f"at {share:.0%} of the pixels the softmax is exactly 0 and 1, so large are the logits",
        "cross-entropy has no gradient there, and attacks that use it stand still",
        "use attacks on the logits (apgd-margin, apgd-dlr, padam-cos), or divide the logits by a temperature",
    )
