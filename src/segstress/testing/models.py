"""What every model must keep; `check_model` is public, for authors of plug-ins."""

from __future__ import annotations

import torch

from ..core import Spec, stream
from ..models import Model, Segmenter, fingerprint, load, models
from .settings import check_settings

NEAR = 1e-3  # of logits: the rounding of float32 networks depends on the size of a batch


def check_model(model: Model | Spec, sides: tuple[int, int] = (64, 64), channels: int = 3) -> None:
    """Run every check, one after the other; `sides` is a size of images that the model takes."""
    built = model if isinstance(model, Model) else models.build(model)
    check_settings(models, built)
    assert built.label, "it has no name in tables"
    segmenter = load(built)
    images = torch.rand((2, channels, *sides), generator=stream(0, "toy", "images"))
    for check in MODEL_CHECKS:
        check(segmenter, images)
    assert fingerprint(segmenter, built) == fingerprint(load(built), built), (
        "its fingerprint changes though it does not"
    )


def check_gives_logits(segmenter: Segmenter, images: torch.Tensor) -> None:
    """Check that it gives at least two classes at every pixel of the image, all of them numbers."""
    with torch.no_grad():
        logits = segmenter(images)
    assert logits.shape[0] == len(images), f"{len(logits)} answers to {len(images)} images"
    assert logits.shape[2:] == images.shape[2:], f"logits of {tuple(logits.shape[2:])}, images of {images.shape[2:]}"
    assert logits.shape[1] > 1, "one channel; a single logit z should become (0, z)"
    assert logits.isfinite().all(), "logits that are no numbers"


def check_is_ready(segmenter: Segmenter, images: torch.Tensor) -> None:
    """Check that it is in eval mode and frozen; looking at images changes neither its state nor the images."""
    before = {name: tensor.clone() for name, tensor in segmenter.state_dict().items()}
    same = images.clone()
    with torch.no_grad():
        segmenter(images)
    assert not any(module.training for module in segmenter.modules()), "a part of it is in train mode"
    assert not any(parameter.requires_grad for parameter in segmenter.parameters()), "a parameter is not frozen"
    assert all(torch.equal(tensor, before[name]) for name, tensor in segmenter.state_dict().items()), "its state moved"
    assert torch.equal(images, same), "it changed the images"


def check_answers_alike(segmenter: Segmenter, images: torch.Tensor) -> None:
    """Check that asked twice, and of an image alone, it gives the same logits."""
    with torch.no_grad():
        first, second = segmenter(images), segmenter(images)
        alone = torch.cat([segmenter(image[None]) for image in images])
    assert torch.equal(first, second), "two passes differ; is a part of it random?"
    apart = float((first - alone).abs().max() / first.abs().max().clamp(min=1e-6))
    assert apart <= NEAR, f"alone and in a batch logits differ by {apart:.2g} of the largest"


def check_has_a_slope(segmenter: Segmenter, images: torch.Tensor) -> None:
    """Check that the image has a gradient, each by itself."""
    leaf = images.clone().requires_grad_()
    logits = segmenter(leaf)
    (slope,) = torch.autograd.grad(logits[0].square().sum(), leaf)
    assert slope.isfinite().all(), "a gradient that is no number"
    assert slope[0].any(), "no gradient reaches the image"
    assert not slope[1].any(), "an image has a gradient from another's logits"


MODEL_CHECKS = (check_gives_logits, check_is_ready, check_answers_alike, check_has_a_slope)
