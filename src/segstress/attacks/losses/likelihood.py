"""Losses of the true class's probability: cross-entropy, and what weighs its gradient pixel by pixel."""

from __future__ import annotations

import math

import torch
from torch.nn import functional

from .view import Pixels, View, length, losses


@losses.register("ce")
def cross_entropy(view: View) -> Pixels:
    """Return the cross-entropy of every pixel."""
    return functional.cross_entropy(view.logits, view.labels, reduction="none")


@losses.register("masked-ce")
def masked_cross_entropy(view: View) -> Pixels:
    """Return the cross-entropy of the pixels that remain only (Croce et al. 2024, arXiv:2306.12941)."""
    return view.remaining * cross_entropy(view)


@losses.register("masked-ce-balanced")
def balanced_masked_cross_entropy(view: View) -> Pixels:
    """Return masked cross-entropy, rare classes weighing more: an attack on mIoU (arXiv:2306.12941)."""
    return view.balance * masked_cross_entropy(view)


@losses.register("segpgd")
def balanced_cross_entropy(view: View) -> Pixels:
    """Move the weight of cross-entropy from remaining to all pixels (SegPGD, Gu et al. 2022, arXiv:2207.12391)."""
    share = view.progress / 2
    return (share + (1 - 2 * share) * view.remaining) * cross_entropy(view)


@losses.register("cospgd")
def cosine_cross_entropy(view: View) -> Pixels:
    """Weigh cross-entropy by cos(softmax, one-hot label) (CosPGD, Agnihotri et al. 2024, arXiv:2302.02213)."""
    return _cosine_weight(view, view.logits.detach().softmax(1)) * cross_entropy(view)


@losses.register("cospgd-sigmoid")
def sigmoid_cosine_cross_entropy(view: View) -> Pixels:
    """Weigh cross-entropy by cos(sigmoid, one-hot label), as SEA's first code has CosPGD (arXiv:2306.12941v1)."""
    return _cosine_weight(view, view.logits.detach().sigmoid()) * cross_entropy(view)


def _cosine_weight(view: View, squashed: torch.Tensor) -> Pixels:
    cosine = squashed.gather(1, view.labels[:, None])[:, 0] / length(squashed)
    return 1 - cosine if view.targeted else cosine


@losses.register("jsd")
def jensen_shannon(view: View) -> Pixels:
    """Return the Jensen-Shannon divergence of softmax and one-hot label (Croce et al. 2024, arXiv:2306.12941)."""
    # Only the true class's probability p matters: log 2 + (p log p - (1 + p) log(1 + p)) / 2, finite for every p.
    log = -cross_entropy(view)
    probability = log.exp()
    return math.log(2) + (probability * log - (1 + probability) * probability.log1p()) / 2


@losses.register("tsallis")
def tsallis(view: View) -> Pixels:
    """Return Tsallis cross-entropy, its order q rising from -2 to 1 with the steps (TsallisPGD, arXiv:2605.03405)."""
    return _tsallis(view, 1 - view.progress)


@losses.register("tsallis-balanced")
def balanced_tsallis(view: View) -> Pixels:
    """Return Tsallis cross-entropy, rare classes weighing more (arXiv:2605.03405, weights of arXiv:2306.12941)."""
    return view.balance * _tsallis(view, 1 - view.progress)


def _tsallis(view: View, left: float) -> Pixels:
    power = 3 * left  # 1 - q
    loss = cross_entropy(view)
    return loss if power < 1e-6 else -torch.expm1(-power * loss) / power
