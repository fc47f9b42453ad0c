"""What the tests of this room share."""

from __future__ import annotations

import pytest
from toy_set import Toy, toy_set


@pytest.fixture
def toy() -> Toy:
    """Four tiny images with void, absent classes and a stray pixel."""
    return toy_set()
