"""Shards by bytes and time: a rule of what a plan lets foresee, the same in every process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import net

from segstress.evaluation import evaluate
from segstress.evaluation.schedule import phases, units
from segstress.planning import read_plan
from segstress.planning.sharding import BYTES, WORK, images_per_shard
from segstress.results.run import Run
from segstress.results.seal import read_seal
from segstress.runtime import RunOptions, Store


@pytest.mark.parametrize(
    ("images", "work", "size", "expected"),
    [
        (24, 1, 0, 4),  # small runs as ever
        (6400, 1, 0, 100),  # many workers have something to do
        (6400, WORK // 10, 0, 10),  # time
        (6400, 1, BYTES // 7, 7),  # bytes
        (6400, 2 * WORK, 2 * BYTES, 1),
        (0, 0, 0, 4),
    ],
)
def test_the_rule(images: int, work: int, size: int, expected: int) -> None:
    assert images_per_shard(images, work, size) == expected


def cut(steps: int, count: int, tmp_path: Path, shard_size: int = 0, **changes: object) -> list[int]:
    asked = {"models": [net("tiny")], "data": [f"shapes:test?count={count}&size=16"], "eps": "8/255"}
    plan = read_plan({**asked, "perturbations": [f"pgd?steps={steps}"], "numerics": {"batch_size": 2}, **changes})
    store, cells = Store(tmp_path), plan.cells(["0"])
    (phase,) = phases(plan, store, [cells[-1]], 1)
    return [len(unit.steps[0][1]) for unit in units(plan, store, phase, 2, shard_size, retry_errors=False)]


def test_units_are_whole_batches_of_as_much_as_a_minute_does(tmp_path: Path) -> None:
    assert set(cut(10, 640, tmp_path)) == {10}
    assert set(cut(100_000, 640, tmp_path)) == {2}
    assert set(cut(10, 640, tmp_path, shard_size=5)) == {6, 4}  # as asked


def test_shards_of_any_size_bear_one_seal(tmp_path: Path) -> None:
    asked = {"models": [net("tiny")], "data": ["shapes:test?count=9&size=16"], "perturbations": ["pgd?steps=2"]}
    plan = {**asked, "eps": "8/255", "numerics": {"batch_size": 2}}
    for size in (0, 2):
        evaluate(plan, tmp_path / str(size), RunOptions(workers=1, shard_size=size))
    assert read_seal(Run(tmp_path / "0"))[0] == read_seal(Run(tmp_path / "2"))[0]
