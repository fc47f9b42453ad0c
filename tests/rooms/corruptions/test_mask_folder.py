"""Masks from a folder."""

import numpy as np
import pytest
import torch
from PIL import Image

from segstress.core import BadImage, BadInput, Batch, regions


@pytest.fixture
def batch():
    labels = torch.zeros((1, 4, 6), dtype=torch.int64)
    return Batch(("town/one",), torch.zeros(1, 3, 4, 6), labels, labels == 0)


def save(folder, pixels):
    path = folder / "town" / "one.png"
    path.parent.mkdir()
    Image.fromarray(pixels).save(path)


def test_any_value_but_nought_belongs(batch, tmp_path):
    pixels = np.zeros((4, 6), dtype=np.uint8)
    pixels[1:3, 2], pixels[0, 5] = 255, 1
    save(tmp_path, pixels)
    mask = regions.build(f"masks:{tmp_path}").mask(batch, 0)
    assert torch.equal(mask[0], torch.from_numpy(pixels > 0))


def test_missing_wrong_sized_and_broken_masks_are_named(batch, tmp_path):
    with pytest.raises(BadInput, match="is not a folder"):
        regions.build(f"masks:{tmp_path / 'nowhere'}").mask(batch, 0)
    region = regions.build(f"masks:{tmp_path}")
    with pytest.raises(BadImage, match=r"one\.png is missing"):
        region.mask(batch, 0)
    save(tmp_path, np.zeros((4, 5), dtype=np.uint8))
    with pytest.raises(BadImage, match=r"expected 4 x 6 pixels of one channel, found \(4, 5\)"):
        region.mask(batch, 0)
    (tmp_path / "town" / "one.png").write_bytes(b"not a picture")
    with pytest.raises(BadImage, match="cannot be read"):
        region.mask(batch, 0)
