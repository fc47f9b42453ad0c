"""Names of localized attacks on pages: what was done, without the steps, which have a column of their own."""

from __future__ import annotations

import pytest

from segstress.attacks import attacks
from segstress.core import to_plain
from segstress.results.local_results import _what


@pytest.mark.parametrize(
    ("attack", "name"),
    [
        ("pgd-region?steps=5", "2 x pgd-region"),
        ("pgd?keep=last&steps=7", "2 x pgd(keep=last)"),
        ("pgd", "2 x pgd"),
    ],
)
def test_steps_are_left_out(attack, name):
    plain = attacks.spec(attacks.build(attack))
    assert to_plain(plain) == plain
    assert _what({"kind": "multi-attack", "attack": plain, "number": 2, "every_iterate": False}) == name
