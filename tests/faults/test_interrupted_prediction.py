"""Prediction for a competition, killed at seeded moments: an image that was put away is never predicted again."""

from __future__ import annotations

import multiprocessing
import signal
from pathlib import Path

import numpy as np
import pytest

from segstress.contests.compete import begin, reopen
from segstress.contests.competition import Competition
from segstress.contests.journal import Journal
from segstress.contests.plan import read_contest
from segstress.core import BadInput
from segstress.data.pipeline import AHEAD
from segstress.runtime import Progress, RunOptions

IMAGES, SHARD, KILLS = 17, 6, 3
DEADLY = """
import os, signal
from pathlib import Path
from torch import nn

class Deadly(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 7, 1)
        nn.init.dirac_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def forward(self, images):
        if "CALLS" in os.environ:
            calls = Path(os.environ["CALLS"])
            with calls.open("a") as file:
                file.write(".")
            if str(calls.stat().st_size) == os.environ["DEADLY"]:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.layer(images)

def net():
    return Deadly()
"""


def prepare(folder: Path) -> Competition:
    """A competition of a model that writes down its calls and may die in one, and of an ordinary one."""
    source = folder.parent / "deadly.py"
    source.write_text(DEADLY)
    models = [f"factory:{source}:net", "compact:cnn?seed=0"]
    pool = f"shapes:pool?count={IMAGES}&size=16"
    competition = begin(
        read_contest({"models": models, "pool": pool, "shard_size": SHARD, "numerics": {"batch_size": 1}}), folder
    )
    competition.index(Progress(), RunOptions(workers=1))
    return competition


def predict(folder: Path) -> None:
    reopen(folder).predict(Progress(), RunOptions(workers=1))


def results(competition: Competition) -> dict[str, bytes]:
    models = competition.folder / "models"
    return {str(path.relative_to(models)): path.read_bytes() for path in models.rglob("*") if path.is_file()}


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_costs_the_images_in_hand_and_nothing_else(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, killed = prepare(tmp_path / "whole"), prepare(tmp_path / "killed")
    predict(whole.folder)
    calls = tmp_path / "calls"
    monkeypatch.setenv("CALLS", str(calls))
    moments = np.random.default_rng(seed).choice(np.arange(1, IMAGES + 1), KILLS, replace=False)
    for moment in sorted(moments.tolist()):
        monkeypatch.setenv("DEADLY", str(moment))
        process = multiprocessing.get_context("fork").Process(target=predict, args=(killed.folder,))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    monkeypatch.setenv("DEADLY", "never")
    predict(killed.folder)
    assert IMAGES + KILLS <= calls.stat().st_size <= IMAGES + KILLS * (2 + AHEAD)  # in hand, and being put away
    assert results(killed) == results(whole)


def test_a_journal_cut_anywhere_keeps_what_came_before(tmp_path: Path) -> None:
    maps = {f"image{number}": np.full((3, 4), number, dtype=np.uint8) for number in range(3)}
    journal = Journal(tmp_path / "begun.zst")
    ends = [0]
    for image, labels in maps.items():
        journal.append({image: labels})
        ends.append(journal.path.stat().st_size)
    data = journal.path.read_bytes()
    for length in range(len(data) + 1):
        journal.path.write_bytes(data[:length])
        kept = sum(end <= length for end in ends) - 1
        assert list(journal.read()) == list(maps)[:kept]
        journal.append({"image9": maps["image0"]})
        assert list(journal.read()) == [*list(maps)[:kept], "image9"]


def test_a_damaged_record_is_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "begun.zst")
    for image in ("a", "b"):
        journal.append({image: np.zeros((2, 2), dtype=np.uint8)})
    data = bytearray(journal.path.read_bytes())
    data[-1] ^= 1
    journal.path.write_bytes(data)
    assert list(journal.read()) == ["a"]


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "begun.zst").mkdir()
    with pytest.raises(BadInput, match="make room"):
        Journal(tmp_path / "begun.zst").append({"a": np.zeros((2, 2), dtype=np.uint8)})
