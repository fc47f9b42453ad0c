"""A run of many shards ends in few files, with the seal and the tables that it would have had anyway."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import net
from tests.tables import tables

from segstress.evaluation import closing, evaluate
from segstress.evaluation.verify import verify
from segstress.results.run import Run
from segstress.results.seal import read_seal
from segstress.runtime import RunOptions

PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=6&size=16"],
    "perturbations": ["pgd?steps=2"],
    "eps": "8/255",
    "numerics": {"batch_size": 1},
}
SMALL = RunOptions(workers=1, shard_size=1)


def most_files(folder: Path) -> int:
    return max(len(list(cell.iterdir())) for cell in (folder / "cells").iterdir())


@pytest.fixture
def scattered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose shards were left as they were."""
    with monkeypatch.context() as patched:
        patched.setattr(closing, "compact", lambda *_: False)
        evaluate(PLAN, tmp_path / "scattered", SMALL)
    assert most_files(tmp_path / "scattered") > 20
    return tmp_path / "scattered"


def test_a_run_that_ends_is_compact_and_bears_the_same_seal(scattered: Path, tmp_path: Path) -> None:
    evaluate(PLAN, tmp_path / "run", SMALL)
    assert most_files(tmp_path / "run") <= 20
    assert read_seal(Run(tmp_path / "run"))[0] == read_seal(Run(scattered))[0]
    assert tables(tmp_path / "run") == tables(scattered)
    assert all(verdict.sound for verdict in verify(tmp_path / "run", 1.0, everything=True))


def test_a_compact_run_is_added_to(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    evaluate(PLAN, folder, SMALL)
    evaluate({**PLAN, "perturbations": ["pgd?steps=2", "segpgd?steps=2"]}, folder, SMALL)
    assert most_files(folder) <= 20
    assert Run(folder).damage == []


def test_an_older_run_is_compacted_by_name(scattered: Path) -> None:
    seal, before = read_seal(Run(scattered))[0], tables(scattered)
    command = [str(Path(sys.executable).parent / "segstress"), "compact", str(scattered)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stderr
    assert "files of shards, now" in done.stdout
    assert most_files(scattered) <= 20
    assert read_seal(Run(scattered)) == (seal, "")
    assert tables(scattered) == before


def test_a_damaged_run_is_not_compacted(scattered: Path) -> None:
    next((scattered / "cells").glob("*/counts-*")).unlink()
    command = [str(Path(sys.executable).parent / "segstress"), "compact", str(scattered)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 2
    assert "is missing" in done.stderr
    assert "Traceback" not in done.stderr
