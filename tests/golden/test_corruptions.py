"""No move changes a corruption: what each makes of two pictures at every severity."""

from __future__ import annotations

import pytest

from . import changes
from .stored import CHANGES, stored

BEFORE = stored(CHANGES)


def test_every_corruption_is_stored():
    assert sorted(BEFORE) == sorted(changes.names())


@pytest.mark.parametrize("name", sorted(BEFORE))
def test_a_change_is_as_stored(name):
    after = changes.facts(name)
    assert sorted(after) == sorted(BEFORE[name])
    for severity, values in BEFORE[name].items():
        assert after[severity] == pytest.approx(values, abs=3e-5), severity
