"""Decoding ahead of a model, and putting away behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from segstress.core import BadImage, BadInput
from segstress.data.pipeline import AHEAD, put_behind, read_blocks

BLOCKS = ["ab", "cd", "ef", "gh", "ij"]


def until(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


@pytest.mark.parametrize("readers", [1, 4])
def test_blocks_come_in_their_order_and_no_further_ahead_than_said(readers: int) -> None:
    seen: list[str] = []

    def read(name: str) -> str:
        seen.append(name)
        return name.upper()

    blocks = read_blocks(read, BLOCKS, readers)
    assert next(blocks) == {"a": "A", "b": "B"}
    assert until(lambda: len(seen) == 2 * (1 + AHEAD))
    assert sorted(seen) == list("abcdef")
    assert ["".join(block.values()) for block in blocks] == ["CD", "EF", "GH", "IJ"]
    assert sorted(seen) == list("abcdefghij")


def test_an_image_that_cannot_be_read_fails_alone() -> None:
    def read(name: str) -> int:
        if name == "c":
            raise BadImage("c: broken\nmore of it")
        return ord(name)

    assert list(read_blocks(read, BLOCKS[:2])) == [{"a": 97, "b": 98}, {"c": "c: broken", "d": 100}]


def test_what_speaks_against_the_whole_pool_ends_it() -> None:
    def read(name: str) -> int:
        raise BadInput("no such folder")

    with pytest.raises(BadInput, match="no such folder"):
        list(read_blocks(read, BLOCKS))


def test_results_are_put_away_beside_the_work_in_their_order() -> None:
    kept: list[int] = []
    here, begun, go_on = threading.get_ident(), threading.Event(), threading.Event()

    def put(number: int) -> None:
        assert threading.get_ident() != here
        begun.set()
        go_on.wait(10)
        kept.append(number)

    with put_behind(put) as hand_over:
        hand_over(0)
        assert begun.wait(10)
        hand_over(1)  # comes back although the first is not put away
        assert kept == []
        go_on.set()
        for number in range(2, 9):
            hand_over(number)
    assert kept == list(range(9))


def test_what_cannot_be_put_away_ends_the_work() -> None:
    def put(number: int) -> None:
        raise BadInput("no room")

    with pytest.raises(BadInput, match="no room"), put_behind(put) as hand_over:
        hand_over(0)
