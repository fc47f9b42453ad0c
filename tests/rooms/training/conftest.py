"""A training that takes a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from segstress.fitting.plan import TrainingPlan, read_training_plan

NETWORKS = Path(__file__).parent / "networks.py"
QUICK = {
    "model": f"factory:{NETWORKS}:restless",
    "data": "shapes:train?count=12&size=24",
    "validation": "shapes:val?count=2&size=24",
    "recipe": {"kind": "pgd-at", "attack": "pgd?steps=2&eps=8/255&keep=last"},
    "augmentation": {"crop": 16},
    "epochs": 2,
    "batch_size": 4,
    "save_every": 2,
}


@pytest.fixture
def quick():
    """The plan, with changes."""

    def plan(**changes: object) -> TrainingPlan:
        return read_training_plan(None, QUICK | changes)

    return plan
