"""Kept arrays come back bit for bit, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

from segstress.core import BadInput
from segstress.data.packed_arrays import pack, unpack

ARRAYS = {
    "image": np.random.default_rng(0).random((3, 5, 7), dtype=np.float32),
    "map": np.arange(12, dtype=np.uint8).reshape(3, 4).T,  # not contiguous
    "wide": np.array([[-1, 2**40]]),
    "valid": np.array([True, False]),
    "none": np.zeros((0, 4), dtype=np.int16),
    "single": np.array(0.1),
}


def test_arrays_come_back_exactly() -> None:
    kept = unpack(pack(ARRAYS))
    assert kept.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert kept[name].dtype == array.dtype
        np.testing.assert_array_equal(kept[name], array, strict=True)


def test_equal_arrays_give_equal_bytes_in_any_order() -> None:
    assert pack(ARRAYS) == pack(dict(reversed(ARRAYS.items())))


def test_flat_label_maps_become_small() -> None:
    assert len(pack({"map": np.zeros((500, 500), dtype=np.uint8)})) < 1000


@pytest.mark.parametrize("place", [0, 20, 30, -1])
def test_changed_byte_is_refused(place: int) -> None:
    data = bytearray(pack(ARRAYS))
    data[place] ^= 1
    with pytest.raises(BadInput, match="damaged"):
        unpack(bytes(data))


@pytest.mark.parametrize("length", [0, 3, 25, -1])
def test_cut_bytes_are_refused(length: int) -> None:
    with pytest.raises(BadInput, match="damaged"):
        unpack(pack(ARRAYS)[:length])
