"""What a failed search for smallness counts as."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from segstress.evaluation import evaluate
from segstress.planning.minimal import specs
from segstress.results.minimal import _longest, read_minimal
from segstress.results.run import Run
from segstress.runtime import RunOptions


@pytest.mark.parametrize(("norm", "size"), [("linf", 1), ("l2", math.sqrt(500)), ("l1", 500), ("l0", 100)])
def test_longest_delta_counts_every_channel_but_in_l0(norm: str, size: float) -> None:
    assert _longest(norm, 5, 100) == size


def test_channels_are_those_of_the_images(tmp_path: Path) -> None:
    searches = specs(["fmn-auto?steps=2"], [0.9], norm="l2")
    plan = {"models": ["compact:cnn-normal"], "data": ["shapes:test?count=1&size=32"], "perturbations": searches}
    evaluate(plan, tmp_path, RunOptions(workers=1))
    assert [result.longest for result in read_minimal(Run(tmp_path))] == [math.sqrt(3 * 32 * 32)]
    (cell, *_) = (cell for cell in Run(tmp_path).cells if cell.perturbation["kind"] == "attack")
    assert set(Run(tmp_path).images(cell)["channels"].to_pylist()) == {3}
