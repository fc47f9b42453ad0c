"""A run of many shards ends in few files, with the seal and the tables that it would have had anyway."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import net
from tests.tables import tables

from segstress.evaluation import closing, evaluate
from segstress.evaluation import run as run_module
from segstress.evaluation.verify import verify
from segstress.results.run import Run
from segstress.results.seal import read_seal
from segstress.runtime import Cell, RunOptions, Store, compaction

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


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Join after every second answer; the number of a cell's files whenever that is done."""
    files: list[int] = []
    monkeypatch.setattr(run_module, "MANY", 2)
    monkeypatch.setattr(compaction, "MANY", 2)

    def noting(store: Store, cell: Cell) -> bool:
        done = compaction.compact_new(store, cell)
        files.append(len(list(store.cell_folder(cell).iterdir())))
        return done

    monkeypatch.setattr(run_module, "compact_new", noting)
    return files


def test_files_stay_few_while_a_run_goes_on(scattered: Path, tmp_path: Path, early: list[int]) -> None:
    evaluate({**PLAN, "data": ["shapes:test?count=9&size=16"]}, tmp_path / "nine", SMALL)
    assert max(early) < 9 * 4, "nothing was joined before the end"
    assert len(early) > 4
    evaluate(PLAN, tmp_path / "run", SMALL)
    assert read_seal(Run(tmp_path / "run"))[0] == read_seal(Run(scattered))[0]
    assert tables(tmp_path / "run") == tables(scattered)
    assert all(verdict.sound for verdict in verify(tmp_path / "run", 1.0, everything=True))


def test_worker_processes_write_beside_what_is_joined(scattered: Path, tmp_path: Path, early: list[int]) -> None:
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=2, shard_size=1))
    assert early
    assert tables(tmp_path / "run") == tables(scattered)


def test_the_last_part_joins_what_all_have_written(scattered: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        evaluate(PLAN, tmp_path / "run", replace(SMALL, part=f"{number}/2"))
    assert most_files(tmp_path / "run") <= 20
    assert read_seal(Run(tmp_path / "run"))[0] == read_seal(Run(scattered))[0]


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
