"""The contract over every registered annotation format."""

from __future__ import annotations

import pytest

import segstress.competition.formats  # noqa: F401  (its files register themselves)
from segstress.competition.formats.label_task import formats
from segstress.testing import check_format


@pytest.mark.parametrize("name", formats.names())
def test_contract(name):
    check_format(name)
