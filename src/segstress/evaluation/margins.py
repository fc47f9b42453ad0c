"""Pixels that are still right under a perturbation, and how far they are from falling."""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

from ..core import Batch
from .rows import Row

QUANTILES = (10, 50, 90)  # percent of the remaining pixels


def mean_margin(logits: Tensor, batch: Batch) -> Tensor:
    """Average, over an image's valid pixels, the distance between the logit of the truth and the best other one."""
    known = batch.valid & (batch.labels < logits.shape[1])  # a model may have fewer classes than the truth
    distances = _margins(logits, batch.labels).abs()
    known = known & distances.isfinite()  # nor can a class be so far that nothing else counts
    distances = distances.masked_fill(~known, 0)
    return distances.flatten(1).sum(1) / known.flatten(1).sum(1)


def margins(logits: Tensor, prediction: Tensor, batch: Batch, unit: Tensor) -> list[Row]:
    """Return, for every image, quantiles of its remaining pixels' margins in its own unit; none where none remains."""
    leads = _margins(logits, batch.labels) / unit[:, None, None]
    right = batch.valid & (prediction == batch.labels)
    return [_quantiles(lead[pixels].cpu().numpy()) for lead, pixels in zip(leads, right, strict=True)]


def _quantiles(leads: np.ndarray) -> Row:
    known = leads[np.isfinite(leads)]
    values = np.percentile(known, QUANTILES) if known.size else [math.nan] * len(QUANTILES)
    return {f"margin_{share}": float(value) for share, value in zip(QUANTILES, values, strict=True)}


def _margins(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the lead of the true class over the best other one at each pixel."""
    channels = labels.clamp(max=logits.shape[1] - 1)[:, None]
    return (logits.gather(1, channels) - logits.scatter(1, channels, -math.inf).amax(1, keepdim=True))[:, 0]
