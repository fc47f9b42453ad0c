"""A small competition, for the tests of this room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segstress.contests.compete import begin, walk
from segstress.contests.competition import Competition
from segstress.contests.plan import read_contest
from segstress.runtime import Progress, RunOptions, read_table

QUIET = Progress()
POOL = "shapes:pool?count=20&size=32&labelled=true"
MODELS = [f"compact:cnn?seed={seed}" for seed in range(3)]


def compete(folder: Path, **changes: Any) -> Competition:
    asked = {"models": MODELS, "pool": POOL, "scale": "none", "shard_size": 8} | changes
    competition = begin(read_contest(asked), folder)
    walk(competition, QUIET, RunOptions(workers=1))
    return competition


def rows(folder: Path) -> list[dict[str, Any]]:
    return read_table(folder / "members.parquet").to_pylist()
