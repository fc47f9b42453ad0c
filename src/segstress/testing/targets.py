"""What every target must keep; `check_target` is public, for authors of plug-ins."""

from __future__ import annotations

import torch

from ..core import Batch, Scene, Spec, targets
from ..core.targets import Target
from .settings import check_settings
from .toys import toy_batch, toy_model

CLASSES = 4


def check_target(target: Target | Spec, batch: Batch | None = None) -> None:
    """Run every check, one after the other.

    A target that needs a certain size or certain ids needs a batch that fits."""
    built = target if isinstance(target, Target) else targets.build(target)
    shown = toy_batch(toy_model(CLASSES)) if batch is None else batch
    check_settings(targets, built)
    assert built.label, "it has no name in tables"
    for check in TARGET_CHECKS:
        check(built, shown)


def scene_of(batch: Batch) -> Scene:
    """Return the toy model, and a dataset of the batch's images."""
    images = dict(zip(batch.ids, batch.images, strict=True))
    return Scene(toy_model(CLASSES), CLASSES, batch.ids, images.__getitem__)


def check_wants_classes(target: Target, batch: Batch) -> None:
    """Check for a class of the model at pixels that count, 0 at the others, and one pixel or more an image."""
    labels, valid = target.wanted(batch, scene_of(batch))
    assert (labels.dtype, valid.dtype) == (torch.int64, torch.bool), f"{labels.dtype} and {valid.dtype}"
    assert labels.shape == valid.shape == batch.labels.shape, f"shapes of {labels.shape} and {valid.shape}"
    assert labels[valid].min() >= 0, "ids below 0"
    assert labels[valid].max() < CLASSES, f"ids above those of {CLASSES} classes"
    assert not labels[~valid].any(), "ids where nothing is wanted; they should be 0"
    assert valid.flatten(1).any(1).all(), "an image of which nothing is wanted"


def check_wants_the_same_again(target: Target, batch: Batch) -> None:
    """Check that asked twice, and of an image alone, it wants the same, and leaves the batch as it is."""
    before = batch.images.clone(), batch.labels.clone()
    scene = scene_of(batch)
    labels, valid = target.wanted(batch, scene)
    again = target.wanted(batch, scene)
    assert torch.equal(labels, again.labels), "it changed its mind"
    assert torch.equal(valid, again.valid), "it changed its mind on where"
    for index in range(len(batch)):
        alone = target.wanted(batch.pick([index]), scene)
        assert torch.equal(labels[index], alone.labels[0]), f"of image {index} alone it wants something else"
    assert torch.equal(batch.images, before[0]), "it changed the images"
    assert torch.equal(batch.labels, before[1]), "it changed the labels"


TARGET_CHECKS = (check_wants_classes, check_wants_the_same_again)
