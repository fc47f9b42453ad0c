"""Whatever is registered lives in its registry's room, and is there for every command."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from segstress.cli.listing import REGISTRIES

ROOMS = {
    "attacks": "segstress.attacks.algorithms",
    "losses": "segstress.attacks.losses",
    "corruptions": "segstress.corruptions",
    "models": "segstress.models",
    "datasets": "segstress.data",
    "regions": "segstress.core.regions",
    "targets": ("segstress.attacks.targets", "segstress.core.targets"),
    "metrics": "segstress.metrics",
    "concordances": "segstress.competition",
    "formats": "segstress.competition.formats",
    "recipes": "segstress.training",
    "optimisers": "segstress.training",
    "schedules": "segstress.training",
    "tables": "segstress.reports",
    "figures": "segstress.reports",
}


@pytest.mark.parametrize("sort", sorted(REGISTRIES))
def test_what_is_registered_lives_in_its_room(sort):
    registry = REGISTRIES[sort]
    ours = {name: registry.get(name).__module__ for name in registry.names()}
    ours = {name: module for name, module in ours.items() if module.startswith("segstress.")}
    assert ours
    strangers = {name: module for name, module in ours.items() if not module.startswith(ROOMS[sort])}
    assert not strangers


def test_a_room_by_itself_knows_all_that_is_listed():
    """As the command line sees it: a fresh process that imports one room only."""
    for room, registry in (("data", "datasets"), ("models", "models"), ("attacks", "attacks"), ("metrics", "metrics")):
        script = f"import json, segstress.{room} as room; print(json.dumps(room.{registry}.names()))"
        names = json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)
        known = REGISTRIES[registry]
        ours = {name for name in known.names() if known.get(name).__module__.startswith("segstress.")}
        assert ours <= set(names)
