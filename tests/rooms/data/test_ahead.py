"""Reading ahead of a device."""

from __future__ import annotations

import time

import pytest

from segstress.core import BadImage
from segstress.data.ahead import read_ahead


def test_images_come_as_asked_and_each_is_read_once() -> None:
    seen: list[str] = []

    def read(id_: str) -> str:
        seen.append(id_)
        return id_.upper()

    with read_ahead(read, list("abcdef"), depth=2) as ask:
        assert [ask(id_) for id_ in "abcdefabc"] == list("ABCDEFABC")
    assert seen == list("abcdef")


def test_reading_goes_on_beside_the_work_but_not_further_than_asked() -> None:
    seen: list[str] = []
    with read_ahead(lambda id_: seen.append(id_), list("abcdef"), depth=3) as ask:  # type: ignore[arg-type, return-value]
        deadline = time.monotonic() + 10
        while len(seen) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert seen == list("abc")
        ask("a")
    assert seen in (list("abc"), list("abcd"))


def test_an_image_that_cannot_be_read_fails_alone() -> None:
    def read(id_: str) -> str:
        if id_ == "b":
            raise BadImage("b: broken")
        return id_

    with read_ahead(read, list("abc")) as ask:
        assert ask("a") == "a"
        with pytest.raises(BadImage, match="broken"):
            ask("b")
        assert ask("c") == "c"
