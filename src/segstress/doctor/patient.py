"""Does the model see at all? Its clean answer against one class everywhere, other feedings, and other class ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..core import Batch
from ..metrics.counts import ACTUAL, HITS, count, predict
from ..metrics.scores import accuracy, cmiou
from .feeding import feedings
from .flag import Flag

BETTER = 0.15  # gain in accuracy and in mIoU that chance does not bring
NEAR = 0.02  # accuracy, and
ALIKE = 0.05  # mIoU, above those of one class everywhere that are no better than it
UNKNOWN = 0.05  # share of a class's pixels right below which a model does not know it
CHECKS = ("constant answer", "feeding", "class ids")

Maps = Sequence[Tensor]  # predicted classes of each batch


class Quality(NamedTuple):
    """Figures of some images together."""

    accuracy: float
    miou: float

    def gain(self, other: Quality) -> float:
        """Return by how much both figures of the other are better at least."""
        return min(other.accuracy - self.accuracy, other.miou - self.miou)


def judge_patient(model: nn.Module, batches: Sequence[Batch], classes: Sequence[str]) -> list[Flag]:
    """Raise flags where a model does not see, or would see much better otherwise.

    One forward pass an image, and at most fourteen more where a better feeding would be noticed at all."""
    seen = [(batch, _answer(model, batch.images)) for batch in batches if batch.valid.any()]
    batches = [batch for batch, ids in seen if ids is not None]
    maps = [ids for _, ids in seen if ids is not None]
    if not batches:
        return []
    quality = _quality(maps, batches, len(classes))
    flags: list[Flag] = []
    if max(quality) < 1 - BETTER:
        flags = [*_judge_feeding(model, batches, quality, len(classes)), *_judge_ids(maps, batches, quality, classes)]
    return [*flags, *_judge_constant(batches, quality, classes)]


def _judge_feeding(model: nn.Module, batches: Sequence[Batch], quality: Quality, classes: int) -> Iterator[Flag]:
    """Try every other feeding and tell the best."""
    tries: dict[str, list[Tensor]] = {}
    for batch in batches:
        for words, images in feedings(model, batch.images):
            tries.setdefault(words, []).append(_try(model, images, classes))
    whole = {words: maps for words, maps in tries.items() if len(maps) == len(batches)}  # a grey image has no order
    qualities = {words: _quality(maps, batches, classes) for words, maps in whole.items()}
    words, best = max(qualities.items(), key=lambda item: quality.gain(item[1]), default=("", quality))
    if quality.gain(best) > BETTER:
        yield Flag(
            "feeding",
            f"clean accuracy is {quality.accuracy:.1%}; with {words} it would be {best.accuracy:.1%}",
            "a model that is fed wrongly is weak on clean images, and attacks on it prove nothing",
            "set bgr, scale, mean and std of the model, for example ?scale=255 or ?mean=0.485,0.456,0.406&std=...",
        )


def _judge_ids(maps: Maps, batches: Sequence[Batch], quality: Quality, classes: Sequence[str]) -> Iterator[Flag]:
    """Read the answers by other class ids, at no pass."""
    number = len(classes)
    others: dict[str, Callable[[Tensor], Tensor]] = {
        "every predicted class id one higher": lambda ids: ids + 1,
        "every predicted class id one lower": lambda ids: torch.where(ids > 0, ids - 1, number),
        f"classes {classes[0]} and {classes[-1]} exchanged": lambda ids: _exchange(ids, 0, number - 1),
    }
    qualities = {words: _quality([rule(ids) for ids in maps], batches, number) for words, rule in others.items()}
    qualities |= _without_first(maps, batches, classes)
    words, best = max(qualities.items(), key=lambda item: quality.gain(item[1]))
    if quality.gain(best) > BETTER:
        yield Flag(
            "class-ids",
            f"clean accuracy is {quality.accuracy:.1%}; with {words} it would be {best.accuracy:.1%}",
            "the labels of the data are not those that the model was trained on",
            "look at the order of the classes, at the first id, and at which id means void",
        )


def _without_first(maps: Maps, batches: Sequence[Batch], classes: Sequence[str]) -> dict[str, Quality]:
    """Take the first class for void, where the model never says it."""
    counts = _counts(maps, batches, len(classes)).sum(0)
    if counts[0, HITS] > UNKNOWN * counts[0, ACTUAL]:
        return {}
    rest = [batch.valid & (batch.labels != 0) for batch in batches]
    return {f"class {classes[0]} as void": _quality(maps, batches, len(classes), rest)}


def _judge_constant(batches: Sequence[Batch], quality: Quality, classes: Sequence[str]) -> Iterator[Flag]:
    labels = torch.cat([batch.labels[batch.valid] for batch in batches])
    commonest = int(labels.bincount(minlength=len(classes)).argmax())
    constant = _quality([torch.full_like(batch.labels, commonest) for batch in batches], batches, len(classes))
    if quality.accuracy <= constant.accuracy + NEAR and quality.miou <= constant.miou + ALIKE:
        yield Flag(
            "constant-answer",
            f"clean accuracy is {quality.accuracy:.1%}, and that of {classes[commonest]} everywhere"
            f" {constant.accuracy:.1%}",
            "a model that does not see cannot be robust, whatever an attack leaves of it",
            "look at weights, scale, mean, std, channel order and class ids",
        )


def _answer(model: nn.Module, images: Tensor) -> Tensor | None:
    """Return the predicted classes, or nothing where the model fails: that is told elsewhere, image by image."""
    try:
        with torch.no_grad():
            return predict(model(images))
    except Exception:  # noqa: BLE001 - a model may also refuse what is not its range, and is right to do so
        return None


def _try(model: nn.Module, images: Tensor, nothing: int) -> Tensor:
    """Return the predicted classes, or one that is none of them where the model refuses."""
    ids = _answer(model, images)
    return images.new_full((len(images), *images.shape[-2:]), nothing, dtype=torch.int64) if ids is None else ids


def _quality(maps: Maps, batches: Sequence[Batch], classes: int, zones: Sequence[Tensor] | None = None) -> Quality:
    counts = _counts(maps, batches, classes, zones)
    return Quality(accuracy(counts), cmiou(counts))


def _counts(maps: Maps, batches: Sequence[Batch], classes: int, zones: Sequence[Tensor] | None = None) -> Tensor:
    zones = zones or [batch.valid for batch in batches]
    parts = zip(maps, batches, zones, strict=True)
    return torch.cat([count(ids, batch.labels, zone, classes).cpu() for ids, batch, zone in parts])


def _exchange(ids: Tensor, one: int, other: int) -> Tensor:
    return torch.where(ids == one, other, torch.where(ids == other, one, ids))
