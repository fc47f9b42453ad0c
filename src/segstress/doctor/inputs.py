"""Is the model fed what it was trained on? It should not see much better at another scale."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..core import Batch
from ..metrics.counts import count, predict
from ..metrics.scores import image_accuracy, image_miou
from .flag import Flag

BETTER = 0.15  # gain in accuracy and in mIoU that chance does not bring
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, in RGB


def judge_inputs(model: nn.Module, batch: Batch, logits: Tensor) -> list[Flag]:
    """At most one flag; five forward passes."""
    if not batch.valid.any():
        return []
    quality = _quality(logits, batch)
    gains = {words: _look(model, batch, images) - quality for words, images in _variants(batch.images).items()}
    words, gain = max(gains.items(), key=lambda item: float(item[1].min()))
    if gain.min() <= BETTER:
        return []
    return [
        Flag(
            "input-range",
            f"accuracy is {float(quality[0]):.0%}, and {float(quality[0] + gain[0]):.0%} on {words}",
            "a model that is fed wrongly is weak on clean images, and attacks on it prove nothing",
            "set scale, mean and std of the model, for example ?scale=255 or ?mean=0.485,0.456,0.406&std=...",
        )
    ]


def _variants(images: Tensor) -> dict[str, Tensor]:
    """The images as other conventions want them."""
    variants = {"255 * images": 255 * images, "images / 255": images / 255, "2 * images - 1": 2 * images - 1}
    if images.shape[1] == len(MEAN):
        mean, std = (images.new_tensor(numbers).view(-1, 1, 1) for numbers in (MEAN, STD))
        variants["normalised images"] = (images - mean) / std
        variants["images whose normalisation is undone"] = images * std + mean
    return variants


def _look(model: nn.Module, batch: Batch, images: Tensor) -> Tensor:
    try:
        with torch.no_grad():
            return _quality(model(images), batch)
    except Exception:  # noqa: BLE001 - a model may refuse what is not its range, and is right to do so
        return torch.zeros(2, dtype=torch.float64)


def _quality(logits: Tensor, batch: Batch) -> Tensor:
    """Accuracy and mIoU."""
    counts = count(predict(logits), batch.labels, batch.valid, logits.shape[1])
    return torch.stack([image_accuracy(counts)[0], image_miou(counts)[0]]).double().cpu()
