"""Label Studio's brush: a slow decoder, written from the layout alone, and bytes that its own package made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segstress.competition.formats.label_task import LabelTask, Scheme, formats
from segstress.competition.formats.rle_pack import LONGEST, pack_runs, unpack_runs
from segstress.core import BadImage

PAINTED = [[255, 0, 0, 0, 0], [0, 255, 255, 255, 0], [0, 0, 0, 0, 0]]
THEIRS = bytes([0, 0, 0, 60, 57, 27, 252, 127, 248, 76, 2, 223, 254, 23, 0, 0])  # by label-studio-sdk 2.1.2


def slow_decode(data: bytes) -> list[int]:
    """32 bits of count, 5 of word size - 1, four times 4 of size - 1; then flag, 2 bits of size, length - 1, values."""
    number, left = int.from_bytes(data, "big"), 8 * len(data)

    def take(bits: int) -> int:
        nonlocal left
        left -= bits
        return (number >> left) & ((1 << bits) - 1)

    count, word = take(32), take(5) + 1
    sizes = [take(4) + 1 for _ in range(4)]
    values: list[int] = []
    while len(values) < count:
        alike = take(1)
        length = take(sizes[take(2)]) + 1
        values += [take(word)] * length if alike else [take(word) for _ in range(length)]
    return values


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(1, 600)), min_size=1, max_size=12))
def test_streams_are_those_of_the_layout(runs: list[tuple[int, int]]) -> None:
    values = np.concatenate([np.full(length, value, dtype=np.uint8) for value, length in runs])
    data = pack_runs(values)
    assert slow_decode(data) == values.tolist()
    np.testing.assert_array_equal(unpack_runs(data, len(values)), values)


@pytest.mark.parametrize("length", [1, 16, 17, LONGEST - 1, LONGEST, LONGEST + 1, 3 * LONGEST])
def test_runs_of_every_length(length: int) -> None:
    values = np.full(length, 255, dtype=np.uint8)
    assert slow_decode(pack_runs(values)) == values.tolist()
    np.testing.assert_array_equal(unpack_runs(pack_runs(values), length), values)


def test_what_label_studio_wrote_is_read() -> None:
    values = np.repeat(np.array(PAINTED, dtype=np.uint8).ravel(), 4)
    np.testing.assert_array_equal(unpack_runs(THEIRS, 60), values)
    assert slow_decode(THEIRS) == values.tolist()


@pytest.mark.parametrize("length", range(len(THEIRS) - 2))
def test_a_stream_cut_short_is_a_fault(length: int) -> None:
    with pytest.raises(BadImage, match="cut short"):
        unpack_runs(THEIRS[:length], 60)


def test_a_stream_of_another_size_is_a_fault() -> None:
    with pytest.raises(BadImage, match="60 values of 8 bits, expected 64"):
        unpack_runs(THEIRS, 64)


def test_a_brush_in_our_file_is_what_the_layout_says(tmp_path: Path) -> None:
    labels = np.array([[0, 1, 1], [255, 0, 2]], dtype=np.uint8)
    task = LabelTask("x", np.zeros((2, 3, 3), dtype=np.uint8), labels)
    formats.build("label-studio?regions=brush").write([task], Scheme(["ground", "cat", "dog"], 0), tmp_path)
    (task,) = json.loads((tmp_path / "tasks.json").read_text())
    found = {}
    for region in task["predictions"][0]["result"]:
        opacity = np.array(slow_decode(bytes(region["value"]["rle"]))).reshape(2, 3, 4)[..., 3]
        found[region["value"]["brushlabels"][0]] = opacity > 0
    assert {name: mask.tolist() for name, mask in found.items()} == {
        name: (labels == label).tolist() for name, label in (("cat", 1), ("dog", 2), ("void", 255))
    }
