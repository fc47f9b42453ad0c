"""Bugs are planted for one test, and leave the registry as they found it."""

from __future__ import annotations

import pytest


@pytest.fixture
def register():
    """Give a planted thing a name for as long as the test runs."""
    added = []

    def add(registry, make, name="planted"):
        registry.register(name)(make)
        added.append((registry, name))
        return make

    yield add
    for registry, name in added:
        registry._entries.pop(name)
