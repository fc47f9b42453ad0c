"""Resizing: sizes by hand, values by hand, and the conventions against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from segstress.core import BadInput
from segstress.data import Resize, Sample, datasets, resize, resize_images, resize_mask


def rule(text: str) -> Resize:
    """The rule that a spec names."""
    return datasets.build(f"shapes:test?resize={text}").resize


def sample(height: int, width: int) -> Sample:
    """Random pixels whose labels are the parity of the column and whose upper half is valid."""
    image = torch.rand(3, height, width, generator=torch.Generator().manual_seed(0))
    labels = (torch.arange(width) % 2).expand(height, width).contiguous()
    valid = (torch.arange(height) < height // 2)[:, None].expand(height, width).contiguous()
    return Sample(id="a", image=image, labels=labels, valid=valid, source="made")


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("none", (375, 500), (375, 500)),
        ("short-512", (375, 500), (512, 682)),  # 682.67 rounded down
        ("short-512", (500, 375), (682, 512)),
        ("long-512", (375, 500), (384, 512)),
        ("512x1024", (1024, 2048), (512, 1024)),
        ("scale-0.3", (10, 20), (3, 6)),
        ("scale-2", (10, 20), (20, 40)),
        ("long-1", (1, 9), (1, 1)),  # never empty
        ("centre-crop-473", (375, 500), (473, 473)),
        ("centre-crop-20x50", (40, 40), (20, 50)),
    ],
)
def test_rule_gives_size(text: str, old: tuple[int, int], new: tuple[int, int]) -> None:
    small = resize(sample(*old), rule(text))
    assert small.image.shape == (3, *new)
    assert small.labels.shape == small.valid.shape == new
    assert (small.labels.dtype, small.valid.dtype) == (torch.int64, torch.bool)


@pytest.mark.parametrize("text", ["none", "short-512", "long-64", "scale-0.5", "512x1024", "centre-crop-473"])
def test_rule_is_written_as_it_is_read(text: str) -> None:
    assert str(rule(text)) == text
    assert datasets.spec(datasets.build(f"shapes:test?resize={text}"))["resize"] == text


def test_rule_can_be_a_mapping() -> None:
    built = datasets.build({"kind": "shapes", "resize": {"rule": "exact", "size": [5, 7]}})
    assert built.resize == Resize(rule="exact", size=(5, 7))


@pytest.mark.parametrize("text", ["512", "short", "short-0", "short-5x6", "long-0.5", "0x5", "scale-0", "shorter-5"])
def test_wrong_rule_is_refused_with_examples(text: str) -> None:
    with pytest.raises(BadInput, match="expected none, short-512"):
        rule(text)


def test_halving_averages_with_the_triangle_filter() -> None:
    row = torch.tensor([0.0, 0.0, 1.0, 1.0]).expand(1, 3, 4, 4)
    halved = resize_images(row, rule("2x2"))
    # The filter of a new pixel reaches two old pixels to each side of its centre with weights 1:3:3:1, cut at the
    # border to 3:3:1.
    assert torch.allclose(halved[0, 0, 0], torch.tensor([1 / 7, 6 / 7]))


def test_images_stay_in_the_box_and_masks_keep_their_values() -> None:
    before = sample(17, 23)
    after = resize(before, rule("31x9"))
    assert 0 <= after.image.min() <= after.image.max() <= 1
    assert set(after.labels.unique().tolist()) <= {0, 1}
    assert after.source == before.source


@pytest.mark.parametrize(("old", "new"), [(7, 3), (3, 7), (8, 4), (5, 5), (360, 473)])
def test_masks_follow_nearest_exact(old: int, new: int) -> None:
    mask = torch.randint(0, 200, (old, old), generator=torch.Generator().manual_seed(1))
    theirs = functional.interpolate(mask[None, None].double(), (new, new), mode="nearest-exact")[0, 0].long()
    assert torch.equal(resize_mask(mask, rule(f"{new}x{new}")), theirs)


def test_halving_a_mask_takes_the_pixel_under_the_centre() -> None:
    assert resize_mask(torch.arange(6)[None], rule("1x3")).tolist() == [[1, 3, 5]]


def test_crop_is_central_in_image_and_mask_alike() -> None:
    crop = rule("centre-crop-4")
    wide = torch.arange(4 * 9).view(4, 9)
    assert torch.equal(resize_mask(wide, crop), wide[:, 2:6])
    assert torch.equal(resize_mask(wide.T, crop), wide.T[2:6])
    assert torch.equal(resize_images((wide / 36)[None, None], crop)[0, 0], wide[:, 2:6] / 36)
