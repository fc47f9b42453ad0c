"""The one adapter: what goes in, what comes out, and what it refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from segstress.core import BadInput
from segstress.models import Interface, Pad, Segmenter


class Returning(nn.Module):
    """A network that is one function of its images."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, images: Tensor) -> Any:
        return self.function(images)


def wrap(function: Any, **settings: Any) -> Segmenter:
    return Segmenter(Returning(function), Interface(**settings)).eval()


def convolve(images: Tensor) -> Tensor:
    """Five classes from three channels; a pixel's answer depends on its neighbours."""
    weight = torch.linspace(-1, 1, 5 * 3 * 9, dtype=images.dtype).view(5, 3, 3, 3)
    return functional.conv2d(images, weight, padding=1)


IMAGES = torch.rand(2, 3, 12, 10, generator=torch.Generator().manual_seed(0))


def test_without_settings_the_images_arrive_untouched() -> None:
    assert wrap(lambda images: images)(IMAGES) is IMAGES


def test_mean_and_std_are_in_the_units_and_order_of_the_network() -> None:
    found = wrap(lambda images: images, bgr=True, scale=255, mean=(10, 20, 30), std=(2, 4, 8))(IMAGES)
    red, green, blue = (255 * IMAGES).unbind(1)
    torch.testing.assert_close(found, torch.stack([(blue - 10) / 2, (green - 20) / 4, (red - 30) / 8], dim=1))


@pytest.mark.parametrize("channels", [2, 4])
def test_images_need_not_be_rgb(channels: int) -> None:
    images = torch.rand(1, channels, 4, 4)
    mean = tuple(range(channels))
    shift = torch.arange(channels).view(-1, 1, 1)
    torch.testing.assert_close(wrap(lambda images: images, mean=mean)(images), images - shift)
    with pytest.raises(BadInput, match=f"for {channels} channels, found images with 3"):
        wrap(lambda images: images, mean=mean)(IMAGES)


@pytest.mark.parametrize(
    "output",
    [
        lambda logits: logits,
        lambda logits: {"out": logits, "aux": 2 * logits},
        lambda logits: {"logits": logits},
        lambda logits: (logits, 2 * logits),
        lambda logits: SimpleNamespace(logits=logits),
    ],
)
def test_the_logits_are_found_in_what_networks_return(output: Any) -> None:
    assert torch.equal(wrap(lambda images: output(convolve(images)))(IMAGES), convolve(IMAGES))


@pytest.mark.parametrize(
    ("output", "found"),
    [(None, "NoneType"), ({"mask": IMAGES}, "dict"), ((), "tuple"), (IMAGES[0], r"Tensor of shape \(3, 12, 10\)")],
)
def test_anything_else_is_refused(output: Any, found: str) -> None:
    with pytest.raises(BadInput, match=f"returned {found}; expected logits"):
        wrap(lambda images: output)(IMAGES)


def test_one_channel_stands_for_two_classes() -> None:
    single = IMAGES[:, :1] - 0.5
    logits = wrap(lambda images: single)(IMAGES)
    torch.testing.assert_close(logits.softmax(1)[:, 1:], single.sigmoid())


def test_outputs_without_a_class_are_dropped() -> None:
    kept = wrap(convolve, drop_outputs=(1, -1))(IMAGES)
    assert torch.equal(kept, convolve(IMAGES)[:, [0, 2, 3]])
    with pytest.raises(BadInput, match="the network has 5 outputs"):
        wrap(convolve, drop_outputs=5)(IMAGES)


@pytest.mark.parametrize(("multiple", "plus"), [(8, 1), (32, 0), (1, 0), (4, 7)])
def test_padding_is_the_least_that_fits(multiple: int, plus: int) -> None:
    sides = [multiple * step + plus for step in range(64)]
    for side in range(1, 40):
        assert side + Pad(multiple=multiple, plus=plus).missing(side) == min(size for size in sides if size >= side)


def test_a_demanding_network_sees_its_size_and_the_image_gets_its_own_back() -> None:
    seen = []

    def demanding(images: Tensor) -> Tensor:
        seen.append(tuple(images.shape[-2:]))
        return convolve(images)

    logits = wrap(demanding, pad=(8, 1), mean=0.5)(IMAGES)
    assert seen == [(17, 17)]
    torch.testing.assert_close(logits, convolve(IMAGES - 0.5))  # the filling is the mean, which a convolution also adds


def test_small_logits_are_resized_only_when_asked() -> None:
    def coarse(images: Tensor) -> Tensor:
        return functional.avg_pool2d(convolve(images), 2)

    with pytest.raises(BadInput, match="logits at 6 x 5, expected 12 x 10; set upsample=bilinear"):
        wrap(coarse)(IMAGES)
    expected = functional.interpolate(coarse(IMAGES), size=(12, 10), mode="bilinear", align_corners=False)
    assert torch.equal(wrap(coarse, upsample="bilinear")(IMAGES), expected)


def test_windows_are_averaged_with_equal_weight_and_the_last_is_shifted_inside() -> None:
    images = IMAGES.double()
    total, looks = torch.zeros(2, 5, 12, 10).double(), torch.zeros(12, 10)
    for top in (0, 4, 6):
        for left in (0, 3, 4):
            part = (..., slice(top, top + 6), slice(left, left + 6))
            total[part] += convolve(images[part])
            looks[part] += 1
    torch.testing.assert_close(wrap(convolve, window=6, stride=(4, 3))(images), total / looks)


def test_a_window_larger_than_the_image_is_the_image() -> None:
    torch.testing.assert_close(wrap(convolve, window=(64, 48))(IMAGES), convolve(IMAGES))


def test_the_gradient_passes_through_every_part() -> None:
    segmenter = wrap(
        lambda images: convolve(images)[..., ::2, ::2], upsample="bilinear", pad=4, window=5, scale=2, mean=1
    )
    images = IMAGES[:1, :, :7, :6].double().requires_grad_()
    assert torch.autograd.gradcheck(segmenter.double(), (images,))


def test_a_network_that_wakes_up_is_caught() -> None:
    class Waking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dropout = nn.Dropout()

        def forward(self, images: Tensor) -> Tensor:
            self.dropout.train()
            return self.dropout(images)

    with pytest.raises(BadInput, match=r"eval mode, found network\.dropout in train mode"):
        Segmenter(Waking(), Interface()).eval()(IMAGES)
    with pytest.raises(BadInput, match="found the model itself in train mode"):
        wrap(convolve).train()(IMAGES)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"stride": 4}, "at most the window None"),
        ({"window": 4, "stride": 5}, "leaves gaps"),
        ({"std": (1, 0, 1)}, "other than 0"),
        ({"pad": 0}, "greater than or equal to 1"),
        ({"mean": ()}, "at least 1 item"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Interface(**settings)
