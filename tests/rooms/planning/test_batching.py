"""How many images a pass takes where nobody says it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from segstress.evaluation import evaluate
from segstress.planning.batching import images_per_pass, settle
from segstress.planning.plan import read_plan
from segstress.runtime import Numerics, RunOptions, record


@pytest.mark.parametrize(
    ("side", "parameters", "images"),
    [(96, 300_000, 4), (128, 300_000, 4), (256, 300_000, 2), (384, 300_000, 1), (96, 30_000_000, 2), (512, 10**8, 1)],
)
def test_small_images_go_together(side: int, parameters: int, images: int) -> None:
    assert images_per_pass(side * side, parameters) == images


def plan(**numerics: int):
    asked = {"models": ["compact:cnn-normal"], "data": ["shapes:test?count=5&size=32"]}
    return read_plan({**asked, "numerics": numerics})


def test_largest_model_and_asked_number_decide(tmp_path: Path) -> None:
    assert settle(plan(), [1000, 20_000_000]).batch_size == 4
    assert settle(plan(batch_size=3), [1000]).batch_size == 3
    record(tmp_path, Numerics(batch_size=2))
    assert settle(plan(), [1000], tmp_path).batch_size == 2  # a run goes on as it was begun


def test_run_stores_what_the_rule_said_and_resumes(tmp_path: Path) -> None:
    asked = {"models": ["compact:cnn-normal"], "data": ["shapes:test?count=5&size=32"], "perturbations": []}
    for _ in range(2):
        evaluate(asked, tmp_path, RunOptions(workers=1))
    assert yaml.safe_load((tmp_path / "plan.yaml").read_text())["numerics"]["batch_size"] == 4
