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

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from .logits import margin
from .region import region_weights
from .view import Pixels, View, losses

FIRST, LAST = 1.0, 300.0  # sharpness, in one over the clean image's mean margin; chosen on shapes:val


def sharpness(view: View, first: float, last: float) -> Float[Tensor, "b 1 1"]:
    """What logits are multiplied by: from first to last in equal factors, over the clean image's mean margin."""
    return first * (last / first) ** view.progress / view.unit


@losses.register("annealed-error")
def annealed_error(view: View) -> Pixels:
    """The chance of a wrong class under a softmax whose temperature falls: in sum the expected number of errors."""
    return expected_error(view, FIRST, LAST)


@losses.register("annealed-error-balanced")
def balanced_annealed_error(view: View) -> Pixels:
    """The annealed error, rare classes weighing more: an attack on mIoU (ours; weights of arXiv:2306.12941)."""
    return view.balance * expected_error(view, FIRST, LAST)


@losses.register("annealed-error-region")
def regional_annealed_error(view: View) -> Pixels:
    """The annealed error, half its weight moving to pixels won before (ours; weights of RP-PGD, AAAI 2025)."""
    return region_weights(view, view.aim.to(view.logits)) * expected_error(view, FIRST, LAST)


@losses.register("annealed-ramp")
def annealed_ramp(view: View) -> Pixels:
    """A sigmoid of the margin that steepens into the 0/1 loss: the annealed error against the best rival alone."""
    return (sharpness(view, FIRST, LAST) * margin(view)).sigmoid()


@losses.register("annealed-iou")
def annealed_iou(view: View) -> Float[Tensor, " b"]:
    """Minus the mIoU under a softmax whose temperature falls; a class that is nowhere true counts once it shows."""
    return -soft_miou(view, FIRST, LAST)


def expected_error(view: View, first: float, last: float) -> Pixels:
    """One minus the sharpened probability of the label, by one that is exact where it is small."""
    sharpened = sharpness(view, first, last)[:, None] * view.logits
    return -(-functional.cross_entropy(sharpened, view.labels, reduction="none")).expm1()


def soft_miou(view: View, first: float, last: float) -> Float[Tensor, " b"]:
    """The mean over classes of I / U, with sharpened probabilities for predictions and inside the aim only.

    The mean is over true classes and, as in the figure, over those that are only predicted: one pixel is enough, so
    the largest probability of such a class says whether it is there. Towards a goal, only its own classes count."""
    shares = (sharpness(view, first, last)[:, None] * view.logits).softmax(1) * view.aim[:, None]
    labels, aim = view.labels.flatten(1), view.aim.flatten(1).to(shares)
    empty = shares.new_zeros(shares.shape[:2])
    right = shares.flatten(2).gather(1, labels[:, None])[:, 0]
    hits, actual = empty.scatter_add(1, labels, right), empty.scatter_add(1, labels, aim)
    union = shares.flatten(2).sum(2) + actual - hits
    true = (actual > 0).to(shares)
    overlap = (true * hits / union.clamp(min=1e-12)).sum(1)
    shown = 0 if view.targeted else ((1 - true) * shares.flatten(2).amax(2)).sum(1)
    return overlap / (true.sum(1) + shown).clamp(min=1)
