"""Nothing that a user can hand over ends in anything but an answer or one clear line, soon and in little memory."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from pathlib import Path
from random import Random

import pytest

from segstress.core.system import peak_memory
from tests.fuzz.corpus import KINDS, survives

GIB = 1 << 30
SLOWEST = 60.0  # seconds of one case


def check(kind: str, seeds: range, folder: Path) -> None:
    idle = peak_memory()
    for seed in seeds:
        place = folder / str(seed)
        place.mkdir()
        begun = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's, of other people's files
            said = survives(kind, seed, place)
        assert time.monotonic() - begun < SLOWEST, f"{kind} {seed}"
        assert "\n" not in said.strip(), f"{kind} {seed}: {said}"
    assert peak_memory() - idle < GIB


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_survives(kind: str, tmp_path: Path) -> None:
    check(kind, range(30), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_thousand_cases_survive(kind: str, tmp_path: Path) -> None:
    check(kind, range(30, 300), tmp_path)


@pytest.mark.slow
def test_fifty_cases_survive_in_fresh_processes() -> None:
    chance = Random(0)
    for _ in range(50):
        words = [chance.choice(list(KINDS)), str(chance.randrange(300))]
        command = [sys.executable, "-W", "ignore", "-m", "tests.fuzz", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SLOWEST, cwd=Path(__file__).parents[2])
        assert done.returncode == 0, f"{words}: {done.stderr}"
        assert "Traceback" not in done.stderr, words
