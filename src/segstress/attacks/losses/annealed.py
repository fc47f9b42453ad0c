"""The figures themselves as losses: smoothed by a temperature that falls while the attack goes on.

Ours. Cross-entropy and its kin go on pushing pixels that are lost or out of reach; these maximise the number of wrong
pixels, or minimise the mean overlap, of a prediction that is soft at first and hard at last. They descend from smoothed
0/1 losses sharpened step by step (Zhao et al. 2010, doi:10.1109/ICDMW.2010.57; Nguyen & Sanner, ICML 2013), graduated
non-convexity (Blake & Zisserman 1987), soft-IoU and Lovász surrogates of training (Rahman & Wang 2016; Berman et al.
2018, arXiv:1705.08790), and are next to TsallisPGD's sweep of orders (arXiv:2605.03405), which with q = 2 is the error
at one fixed temperature, and to uncertainty weights (Maag & Fischer 2023, arXiv:2310.17436).

The temperature is told in units of the clean image's mean margin, so that logits times ten give the same attack.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from .logits import margin
from .region import region_weights
from .view import Pixels, View, losses

Logits = Float[Tensor, "b k h w"]
Figures = Float[Tensor, "b k"]  # of each class
FIRST, LAST = 1.0, 300.0  # sharpness, in one over the clean image's mean margin; chosen on shapes:val


def sharpness(view: View, first: float, last: float) -> Float[Tensor, "b 1 1"]:
    """Return what logits are multiplied by: from first to last in equal factors, over the clean image's mean margin."""
    return first * (last / first) ** view.progress / view.unit


@losses.register("annealed-error")
def annealed_error(view: View) -> Pixels:
    """Return the chance of a wrong class under a softmax that sharpens: in sum the expected number of errors."""
    return expected_error(view, FIRST, LAST)


@losses.register("annealed-error-balanced")
def balanced_annealed_error(view: View) -> Pixels:
    """Return the annealed error, rare classes weighing more: an attack on mIoU (ours; weights of arXiv:2306.12941)."""
    return view.balance * expected_error(view, FIRST, LAST)


@losses.register("annealed-error-region")
def regional_annealed_error(view: View) -> Pixels:
    """Return the annealed error, half its weight moving to pixels won before (ours; weights of RP-PGD, AAAI 2025)."""
    return region_weights(view, view.aim.to(view.logits)) * expected_error(view, FIRST, LAST)


@losses.register("annealed-ramp")
def annealed_ramp(view: View) -> Pixels:
    """Return a sigmoid of the margin that steepens into the 0/1 loss: the error against the best rival alone."""
    return (sharpness(view, FIRST, LAST) * margin(view)).sigmoid()


@losses.register("annealed-iou")
def annealed_iou(view: View) -> Float[Tensor, " b"]:
    """Return minus the mIoU under a softmax whose temperature falls; a class nowhere true counts once it shows."""
    return -soft_miou(view, FIRST, LAST)


def expected_error(view: View, first: float, last: float) -> Pixels:
    """Return one minus the sharpened probability of the label, on the path from first to last."""
    return error_at(view, sharpness(view, first, last))


def error_at(view: View, sharpness: Float[Tensor, "b 1 1"]) -> Pixels:
    """Return one minus the probability of the label at one sharpness."""
    error: Pixels = _Sloped.apply(view.logits, *_error(view, sharpness[:, None]))  # type: ignore[no-untyped-call]
    return error


def soft_miou(view: View, first: float, last: float) -> Float[Tensor, " b"]:
    """Return the mean over classes of I / U, with sharpened probabilities for predictions and inside the aim only.

    The mean is over true classes and, as in the figure, over those that are only predicted: one pixel is enough, so
    the largest probability of such a class says whether it is there. Towards a goal, only its own classes count."""
    miou: Float[Tensor, " b"] = _Sloped.apply(view.logits, *_overlap(view, sharpness(view, first, last)[:, None]))  # type: ignore[no-untyped-call]
    return miou


@torch.no_grad()
def _error(view: View, sharpness: Float[Tensor, "b 1 1 1"]) -> tuple[Pixels, Logits]:
    """Return the error of every pixel, and its slope."""
    labels, shares = view.labels[:, None], (sharpness * view.logits).softmax(1)
    label = shares.gather(1, labels)
    pull = sharpness * label
    return 1 - label[:, 0], shares.mul_(pull).scatter_add_(1, labels, -pull)


@torch.no_grad()
def _overlap(view: View, sharpness: Float[Tensor, "b 1 1 1"]) -> tuple[Float[Tensor, " b"], Logits]:
    """Return the mIoU of every image, and its slope: by autograd from what each class has, by hand from there on."""
    shares, labels = (sharpness * view.logits).softmax(1).mul_(view.aim[:, None]), view.labels.flatten(1)
    peaks = _largest(shares)
    shares = shares.flatten(2)
    empty = shares.new_zeros(shares.shape[:2])
    actual = empty.scatter_add(1, labels, view.aim.flatten(1).to(shares))
    right = shares.gather(1, labels[:, None])[:, 0]
    hits, sums = empty.scatter_add(1, labels, right).requires_grad_(), shares.sum(2).requires_grad_()
    largest = shares.gather(2, peaks)[..., 0].requires_grad_()
    with torch.enable_grad():
        miou = _miou(hits, sums, largest, actual, view.targeted)
        of_hits, of_sums, of_largest = torch.autograd.grad(miou.sum(), (hits, sums, largest), materialize_grads=True)
    # Back through the softmax: a share times its own slope minus the mean slope of the pixel's shares.
    at_label, at_largest = of_hits.gather(1, labels) * right, of_largest * largest.detach()
    mean = (of_sums[:, None] @ shares)[:, 0].add_(at_label).scatter_add_(1, peaks[..., 0], at_largest)
    slope = (of_sums[..., None] - mean[:, None]).mul_(shares)
    slope.scatter_add_(1, labels[:, None], at_label[:, None]).scatter_add_(2, peaks, at_largest[..., None])
    return miou.detach(), slope.view_as(view.logits).mul_(sharpness)


def _miou(hits: Figures, sums: Figures, largest: Figures, actual: Figures, targeted: bool) -> Float[Tensor, " b"]:
    """Work it out from what the classes of an image have: shares on their own pixels, on all, the largest, pixels."""
    true = (actual > 0).to(hits)
    overlap = (true * hits / (sums + actual - hits).clamp(min=1e-12)).sum(1)
    shown = 0 if targeted else ((1 - true) * largest).sum(1)
    return overlap / (true.sum(1) + shown).clamp(min=1)


def _largest(shares: Logits) -> Int64[Tensor, "b k 1"]:
    """Find the pixel with the largest share of each class, by rows: on a CPU `argmax` is slow and `amax` is not."""
    row = shares.amax(3).argmax(2, keepdim=True)
    line = shares.gather(2, row[..., None].expand(-1, -1, -1, shares.shape[3]))[:, :, 0]
    return row * shares.shape[3] + line.argmax(2, keepdim=True)


class _Sloped(torch.autograd.Function):
    """A value of pixels or images whose slope is known: autograd would fill many more tensors as large as logits."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, value: Tensor, slope: Tensor) -> Tensor:
        """Return the value."""
        ctx.save_for_backward(slope)
        return value.clone()

    @staticmethod
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor, None, None]:
        """Return the slope, times what follows makes of each value; in place, so autograd refuses to go back twice."""
        (slope,) = ctx.saved_tensors
        return slope.mul_(above.view(len(above), 1, *(above.shape[1:] or (1, 1)))), None, None
