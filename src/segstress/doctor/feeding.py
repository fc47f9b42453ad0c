"""How else a model might want its images: other ranges, other means, the channels turned round."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor, nn

from ..models.segmenter import Segmenter

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, in RGB
NONE, ONE = (0.0,), (1.0,)
HALF = (0.5,)
CONVENTIONS = {  # scale, mean, std: what the network itself sees
    "0..1": (1, NONE, ONE),
    "0..255": (255, NONE, ONE),
    "-1..1": (1, HALF, HALF),
    "ImageNet's mean and std": (1, MEAN, STD),
    "0..255 without ImageNet's mean": (255, tuple(255 * number for number in MEAN), ONE),
}


def feedings(model: nn.Module, images: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield images in [0, 1] as other conventions want them, with words for each; none twice, nor as they are."""
    seen = [images]
    for words, other in (*_turned(images), *_instead(model, images), *_undone(images)):
        if not any(torch.allclose(other, known, atol=1e-6) for known in seen):
            seen.append(other)
            yield words, other


def _turned(images: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield the other order of the channels, all else as the model has it."""
    if images.shape[1] == len(MEAN):
        yield "BGR order (is the channel order right?)", images.flip(1)


def _undone(images: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield what makes up for a step too much inside the network, where no adapter tells of it."""
    if images.shape[1] == len(MEAN):
        yield "ImageNet's normalisation undone (is it done twice?)", images * _like(STD, images) + _like(MEAN, images)
    yield "images divided by 255", images / 255
    yield "a normalisation to -1..1 undone (is it done twice?)", images / 2 + 0.5


def _instead(model: nn.Module, images: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield each convention in place of the model's own, as far as its adapter has one."""
    colour = images.shape[1] == len(MEAN)
    for bgr, (words, (scale, mean, std)) in product((False, True), CONVENTIONS.items()):
        if colour or not (bgr or len(mean) > 1):
            inputs = scale * images
            inputs = (inputs - _like(mean, images)) / _like(std, images)
            order = ("BGR, " if bgr else "RGB, ") if colour else ""
            yield f"{order}{words}", _before(model, inputs.flip(1) if bgr else inputs)


def _before(model: nn.Module, inputs: Tensor) -> Tensor:
    """Return the images that the adapter turns into these inputs of its network."""
    if not isinstance(model, Segmenter):
        return inputs
    images = (inputs * model.std + model.mean) / model.interface.scale
    return images.flip(1) if model.interface.bgr else images


def _like(numbers: tuple[float, ...], images: Tensor) -> Tensor:
    return images.new_tensor(numbers).view(-1, 1, 1)
