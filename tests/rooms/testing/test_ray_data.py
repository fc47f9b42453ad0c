"""The bench that compares our units with Ray Data: an actor of it does what a unit does."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow.parquet as pq
import pytest

from segstress.contests.compete import begin
from segstress.contests.plan import read_contest
from segstress.contests.stream_work import units_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The script, which is in no package."""
    spec = importlib.util.spec_from_file_location("ray_data", ROOT / "bench/ray_data.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_actor_comes_to_what_a_unit_comes_to(bench, tmp_path: Path) -> None:
    pool = bench.write(tmp_path / "pool", 5)
    contest = read_contest({"models": bench.MODELS, "pool": f"parquet:{pool}", "scale": "none"})
    work = bench.work_of(begin(contest, tmp_path / "run", streamed=True))
    (only,) = units_of(contest.data())
    done, faults = work(only)
    unit = work.empty().load(work.path(done.stem).read_bytes())
    answer = bench.Looker(work)(pq.read_table(next(pool.iterdir())))
    actor = work.empty().load(answer["total"][0])
    assert faults == []
    assert actor.counters == unit.counters == {"images": 5}
    np.testing.assert_array_equal(actor.candidates.images, unit.candidates.images)
    np.testing.assert_array_equal(actor.candidates.scores, unit.candidates.scores)
    np.testing.assert_array_equal(actor.shares.tally, unit.shares.tally)
