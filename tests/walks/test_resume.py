"""A run that is stopped anywhere and taken up again, in other shards and by other workers, gives the same bytes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.conftest import net
from tests.tables import tables

from segstress.core import BadInput, files
from segstress.data import Sample
from segstress.evaluation import evaluate
from segstress.evaluation.referee import Referee
from segstress.planning import read_plan
from segstress.runtime import RunOptions, Shard

PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=5&size=24"],
    "perturbations": ["pgd?steps=3", "segpgd?steps=3"],
    "eps": "8/255",
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    evaluate(PLAN, folder, RunOptions(workers=1))
    return tables(folder)


class Stopped(BaseException):
    """The machine went away."""


class Fuse:
    """Stops the process after a number of file operations."""

    def __init__(self, monkeypatch, last: float) -> None:
        self.operations, self.last = 0, last
        monkeypatch.setattr(files.os, "fsync", self._burn(os.fsync))
        monkeypatch.setattr(Path, "replace", self._burn(Path.replace))

    def _burn(self, operation):
        def burning(*arguments):
            if self.operations >= self.last:
                raise Stopped
            self.operations += 1
            return operation(*arguments)

        return burning


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    """How many file operations an undisturbed run makes."""
    with pytest.MonkeyPatch.context() as patch:
        fuse = Fuse(patch, float("inf"))
        evaluate(PLAN, tmp_path_factory.mktemp("counted") / "run", RunOptions(workers=1))
    return fuse.operations


@pytest.mark.parametrize("number", range(10))
def test_stopped_and_resumed_equals_undisturbed(number, operations, undisturbed, tmp_path):
    last = random.Random(number).randrange(operations)
    with pytest.MonkeyPatch.context() as patch:
        Fuse(patch, last)
        with pytest.raises(Stopped):
            evaluate(PLAN, tmp_path / "run", RunOptions(workers=1))
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=1, shard_size=1 + number % 4))
    assert tables(tmp_path / "run") == undisturbed


def test_workers_and_shards_change_nothing(undisturbed, tmp_path):
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=2, shard_size=2))
    assert tables(tmp_path / "run") == undisturbed


def test_shards_change_no_batch_of_a_battery_that_spares_images(tmp_path):
    """In float32 a result depends on the images beside it, so shards must not decide which those are."""
    path = tmp_path / "three.yaml"
    path.write_text("perturbations: ['pgd-masked?steps=20', 'pgd?steps=3', 'segpgd?steps=3']\n")
    asked = {**PLAN, "perturbations": [], "battery": str(path), "eps": "120/255", "numerics": {"batch_size": 3}}
    asked["data"] = ["shapes:test?count=9&size=16"]
    met, found = [], []
    for size in (1, 2, 4, 9):
        batches: list[tuple[str, ...]] = []
        with pytest.MonkeyPatch.context() as patch:
            watch(patch, batches)
            evaluate(asked, tmp_path / str(size), RunOptions(workers=1, shard_size=size))
        met.append(sorted(batches))
        found.append(tables(tmp_path / str(size)))
    assert {len(batch) - 1 for batch in met[0]} > {3}, "no batch lost a part of its images"
    assert met == [met[0]] * 4
    assert found == [found[0]] * 4


def watch(patch: pytest.MonkeyPatch, batches: list[tuple[str, ...]]) -> None:
    """Note which perturbation meets which images together."""
    referee = Referee.__call__

    def noting(self: Referee, samples: Sequence[Sample]) -> Shard:
        batches.append((self.perturbation.label, *(sample.id for sample in samples)))
        return referee(self, samples)

    patch.setattr(Referee, "__call__", noting)


def test_killed_for_real_and_resumed(undisturbed, tmp_path):
    script = (
        "from segstress.evaluation import evaluate; from segstress.runtime import RunOptions; "
        f"evaluate({PLAN!r}, {str(tmp_path / 'run')!r}, RunOptions(workers=2, shard_size=1))"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2])
    while not list((tmp_path / "run").glob("cells/*pgd*/images-*.parquet")) and process.poll() is None:
        time.sleep(0.01)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it could be killed"
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [child for child in children if Path(f"/proc/{child}").exists()], "workers outlived their parent"
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=2, shard_size=3))
    assert tables(tmp_path / "run") == undisturbed


def test_a_second_time_nothing_is_left_to_do(tmp_path):
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=1))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "cells").rglob("*.parquet")}
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=1))
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "cells").rglob("*.parquet")} == before


def test_a_larger_limit_and_one_more_attack_extend_a_run(undisturbed, tmp_path):
    evaluate({**PLAN, "limit": 2, "perturbations": ["pgd?steps=3"]}, tmp_path / "run", RunOptions(workers=1))
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=1))
    assert tables(tmp_path / "run") == undisturbed


def test_another_plan_is_refused(tmp_path):
    evaluate({**PLAN, "limit": 1}, tmp_path / "run", RunOptions(workers=1))
    with pytest.raises(BadInput, match="holds another plan"):
        evaluate({**PLAN, "limit": 1, "eps": "4/255"}, tmp_path / "run", RunOptions(workers=1))


def test_other_numerics_are_refused_unless_asked_for(tmp_path):
    evaluate({**PLAN, "limit": 1}, tmp_path / "run", RunOptions(workers=1))
    other = {**PLAN, "limit": 2, "numerics": {"batch_size": 2}}
    with pytest.raises(BadInput, match="batch_size 4 -> 2"):
        evaluate(other, tmp_path / "run", RunOptions(workers=1))
    evaluate(other, tmp_path / "run", RunOptions(workers=1, other_numerics=True))


def test_one_writer_at_a_time(tmp_path):
    with files.alone(tmp_path / "run"), pytest.raises(BadInput, match="in use by another"):
        evaluate(read_plan(PLAN), tmp_path / "run", RunOptions(workers=1))
