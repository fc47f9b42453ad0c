"""Windows, mirror images and the longer side, against the plain loops of the protocol that they come from."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from segstress.models import models
from segstress.models.interface import Interface
from segstress.models.model import LATER, _identity
from segstress.models.segmenter import Segmenter

MEAN = 0.45


@pytest.fixture
def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.Tanh(), nn.Conv2d(6, 4, 3, padding=1)).double().eval()


@pytest.fixture
def images() -> Tensor:
    return torch.rand(2, 3, 21, 34, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def adapted(network: nn.Module, **settings: object) -> Segmenter:
    model = Segmenter(network, Interface(mean=(MEAN,), **settings)).eval().requires_grad_(False)  # type: ignore[arg-type]
    model.mean = torch.full_like(model.mean, MEAN, dtype=torch.float64)
    return model.double()


def semseg(network: nn.Module, image: Tensor, longest: int, crop: int) -> Tensor:
    """Probabilities of one image (3, h, w) as semseg's test code makes them: long side, grid, mirror, softmax."""
    height, width = image.shape[1:]
    scale = longest / max(height, width)
    new = (longest, round(scale * width)) if height > width else (round(scale * height), longest)
    large = functional.interpolate((image - MEAN)[None], new, mode="bilinear")[0]
    stride = math.ceil(crop * 2 / 3)
    summed, count = torch.zeros(4, *new, dtype=torch.float64), torch.zeros(new, dtype=torch.float64)
    for row in range(math.ceil((new[0] - crop) / stride) + 1):
        for column in range(math.ceil((new[1] - crop) / stride) + 1):
            bottom, right = min(row * stride + crop, new[0]), min(column * stride + crop, new[1])
            top, left = bottom - crop, right - crop
            part = large[:, top:bottom, left:right]
            both = network(torch.stack([part, part.flip(2)])).softmax(1)
            summed[:, top:bottom, left:right] += (both[0] + both[1].flip(2)) / 2
            count[top:bottom, left:right] += 1
    return functional.interpolate((summed / count)[None], (height, width), mode="bilinear")[0]


@pytest.mark.parametrize("turned", [False, True])
def test_the_protocol_of_semseg_and_ddc_at(network: nn.Module, images: Tensor, turned: bool) -> None:
    images = images.transpose(2, 3) if turned else images
    model = adapted(network, window=(16, 16), mirror=True, average="softmax", long_side=40)
    expected = torch.stack([semseg(network, image, 40, 16) for image in images])
    assert torch.allclose(model(images).exp(), expected, atol=1e-12)


def test_mirrored_logits_are_their_mean(network: nn.Module, images: Tensor) -> None:
    plain = adapted(network)
    expected = (plain(images) + plain(images.flip(-1)).flip(-1)) / 2
    assert torch.allclose(adapted(network, mirror=True)(images), expected, atol=1e-12)


def test_mirrored_softmax_is_the_mean_of_probabilities(network: nn.Module, images: Tensor) -> None:
    plain = adapted(network)
    expected = (plain(images).softmax(1) + plain(images.flip(-1)).flip(-1).softmax(1)) / 2
    answer = adapted(network, mirror=True, average="softmax")(images)
    assert torch.allclose(answer.exp(), expected, atol=1e-12)


def test_the_long_side_alone_brings_logits_back(network: nn.Module, images: Tensor) -> None:
    answer = adapted(network, long_side=16)(images)
    inside = functional.interpolate(images - MEAN, (10, 16), mode="bilinear")  # 16 / 34 of 21 is 9.9
    assert torch.allclose(answer, functional.interpolate(network(inside), (21, 34), mode="bilinear"), atol=1e-12)


def test_gradients_flow_through_all_of_it(network: nn.Module, images: Tensor) -> None:
    model = adapted(network, window=(9, 9), mirror=True, average="softmax", long_side=20)
    small = images[:1, :, :6, :10].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda pixels: model(pixels).sin(), small)


def test_gradients_of_single_precision_are_numbers(network: nn.Module, images: Tensor) -> None:
    model = adapted(network, window=(9, 9), mirror=True, average="softmax").float()
    pixels = images.float().requires_grad_()
    (400 * model(pixels)).log_softmax(1)[:, 0].sum().backward()
    assert pixels.grad is not None
    assert torch.isfinite(pixels.grad).all()
    assert (pixels.grad != 0).any()


def test_what_is_not_used_leaves_the_fingerprint_as_it_was() -> None:
    plain = models.build("compact:cnn-normal")
    told = {**models.spec(plain), "mirror": True}
    without = {key: value for key, value in models.spec(plain).items() if key not in LATER}
    assert _identity(models.spec(plain)) == _identity(without) == without
    assert _identity({"members": [told]}) == {"members": [{**without, "mirror": True}]}
