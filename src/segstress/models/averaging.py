"""Several looks at one image as one answer: the mean of their logits, or the logarithm of the mean of their softmaxes.

The semseg code base tests its networks so, and DDC-AT after it: windows, each also mirrored, averaged after softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

Logits = Float[Tensor, "b k h w"]
Look = Callable[[Tensor], Tensor]

LEAST = -1e30  # the logarithm of no probability at all; finite, so that its gradient is a number


def mirrored(look: Look, images: Float[Tensor, "b c h w"], *, softmax: bool) -> Logits:
    """Average what is seen in the images and, turned back, in their mirror images."""
    answers = [look(images), look(images.flip(-1)).flip(-1)]
    if softmax:
        answers = [answer.log_softmax(1) for answer in answers]
    return mean(add(answers, softmax=softmax), torch.tensor(2.0).to(images), softmax=softmax)


def placed(logits: Float[Tensor, "b k window_h window_w"], border: Sequence[int], *, softmax: bool) -> Logits:
    """Put the answer of a window in its place in the image; `border` is left, right, top, bottom."""
    answer = logits.log_softmax(1) if softmax else logits
    return functional.pad(answer, list(border), value=LEAST if softmax else 0.0)


def add(answers: Iterable[Logits], *, softmax: bool) -> Logits:
    """Return sum answers: logits as they are, or the probabilities that they are the logarithms of."""
    return reduce(torch.logaddexp if softmax else torch.add, answers)


def mean(total: Logits, looks: Float[Tensor, ...], *, softmax: bool) -> Logits:
    """Divide a sum by the number of looks, which may differ from pixel to pixel."""
    return total - looks.log() if softmax else total / looks


def long_side(height: int, width: int, longest: int) -> tuple[int, int]:
    """Return the size whose longer side is `longest`; the other is rounded, as the semseg code base does."""
    return (longest, round(longest / height * width)) if height > width else (round(longest / width * height), longest)


def resized(images: Float[Tensor, "b c h w"], sides: tuple[int, int]) -> Float[Tensor, "b c new_h new_w"]:
    """Interpolate without smoothing first, as cv2 does."""
    return functional.interpolate(images, sides, mode="bilinear", align_corners=False)


def resized_back(logits: Logits, sides: tuple[int, int], *, softmax: bool) -> Float[Tensor, "b k new_h new_w"]:
    """Interpolate logits, or the probabilities that they are the logarithms of."""
    if not softmax:
        return resized(logits, sides)
    return resized(logits.exp(), sides).clamp_min(torch.finfo(logits.dtype).tiny).log()
