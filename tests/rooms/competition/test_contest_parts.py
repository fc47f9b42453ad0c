"""A competition whose steps several processes share: the same maps and agreements as by one."""

from __future__ import annotations

from pathlib import Path

from contests import MODELS

from segstress.contests import index
from segstress.contests.compete import begin, walk
from segstress.contests.plan import read_contest
from segstress.runtime import Progress, RunOptions

CONTEST = {"models": MODELS, "pool": "shapes:test?count=7&size=24", "shard_size": 2}


def results(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in (folder / "models").rglob("*.*")}


def test_parts_of_a_competition_make_the_same_files(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "BLOCK", 2)
    contest = read_contest(CONTEST)
    walk(begin(contest, tmp_path / "one"), Progress(), RunOptions(workers=1))
    said: list[str] = []
    for step in ("index", "predict", "compare"):
        for part in ("1/2", "2/2"):
            competition = begin(contest, tmp_path / "two", RunOptions(part=part))
            getattr(competition, step)(Progress(warn=said.append), RunOptions(workers=1, part=part))
    assert (tmp_path / "two/index.parquet").read_bytes() == (tmp_path / "one/index.parquet").read_bytes()
    assert results(tmp_path / "two") == results(tmp_path / "one")
    assert said == ["this part is done; the rest is left to parts that have not begun: 2/2"] * 3
