"""A torch dataset of uint8 arrays with their channels last, as a dataset like any other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset as TorchDataset

from segstress.core import BadImage, BadInput
from segstress.data import wrap


class Arrays(TorchDataset):
    """Three images of 6 x 8 pixels; `strange` of them have a label that is no class."""

    def __init__(self, strange: int = 0, channels: int = 3) -> None:
        self.strange, self.channels = strange, channels

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        if place >= len(self):
            raise IndexError(place)
        random = np.random.default_rng(place)
        mask = random.integers(0, 4, (6, 8))
        mask[0] = 255
        mask[1, 1] = 9 if place < self.strange else 0
        return random.integers(0, 256, (6, 8, self.channels), dtype=np.uint8), mask


def test_length_index_and_iteration() -> None:
    data = wrap(Arrays(), classes=4)
    assert len(data) == len(list(data)) == 3
    assert [sample.id for sample in data] == data.ids()
    assert data[-1].id == data.ids()[2]
    with pytest.raises(IndexError):
        data[3]


@pytest.mark.parametrize("channels", [1, 3, 5])
def test_arrays_become_channels_first_in_zero_to_one(channels: int) -> None:
    source = Arrays(channels=channels)
    sample = wrap(source, classes=4)[1]
    assert torch.equal(sample.image, torch.from_numpy(source[1][0]).permute(2, 0, 1) / 255)
    assert sample.notes == ("image read as floats: uint8 divided by 255, (h, w, c) turned to (c, h, w)",)
    assert not sample.valid[0].any()
    assert sample.valid[1:].all()


def test_one_strange_label_is_the_fault_of_its_image() -> None:
    data = wrap(Arrays(strange=1), classes=4)
    with pytest.raises(BadImage, match="label id 9 is neither one of the 4 classes nor ignored; name the void id"):
        data[0]
    assert data[1].valid.any()


def test_strange_labels_in_most_images_are_refused_at_once() -> None:
    with pytest.raises(BadInput, match=r"data: label id 9 .* \(in 2 of the first 3 masks\)") as caught:
        wrap(Arrays(strange=2), classes=4)
    assert not isinstance(caught.value, BadImage)


BANDS = np.random.default_rng(0).integers(0, 4096, (6, 8, 5), dtype=np.uint16)
MASK = np.zeros((6, 8), dtype=np.int64)


@pytest.mark.parametrize("kind", [np.uint16, np.int32, np.float64])
def test_other_numbers_are_divided_by_the_scale_that_is_given(kind: type) -> None:
    (sample,) = wrap([(BANDS.astype(kind), MASK)], classes=2, scale=4095.0)
    assert torch.equal(sample.image, torch.from_numpy((BANDS / 4095).astype(np.float32)).permute(2, 0, 1))
    assert f"{np.dtype(kind)} divided by 4095" in sample.notes[0]


def test_a_scale_is_never_guessed_and_must_reach_every_value() -> None:
    with pytest.raises(BadInput, match=r"a scale, found uint16; .*wrap\(data, scale=65535\)"):
        wrap([(BANDS, MASK)], classes=2)
    with pytest.raises(BadInput, match="expected values from 0 to 255, found"):
        wrap([(BANDS, MASK)], classes=2, scale=255.0)
    with pytest.raises(BadInput, match=r"scale: expected the value that stands for 1, such as 65535, found 0\.0"):
        wrap([(BANDS, MASK)], classes=2, scale=0.0)


def test_the_scale_belongs_to_the_identity_and_tells_the_depth() -> None:
    plain = wrap(Arrays(), classes=4)
    deep, deeper = (wrap([(BANDS, MASK)], classes=2, scale=scale) for scale in (4095.0, 65535.0))
    assert deep.fingerprint() != deeper.fingerprint()
    assert [str(data.depth) for data in (plain, deep, deeper)] == ["8-bit", "12-bit", "16-bit"]
