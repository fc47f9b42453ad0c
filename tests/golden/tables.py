"""The tables of one small run of each command, made in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMON = ["--data", "shapes:test", "--limit", "3", "--workers", "1"]
ROBUST = ["--model", "compact:cnn-normal", "--model", "compact:cnn-pgd-at-100"]
NORMAL = ["--model", "compact:cnn-normal"]
SNOW = ["--corruption", "snow,fog", "--severity", "3", "--ratio", "0.5", "--patch", "24"]
ATTACKS = "pgd?steps=4,annealed-error?steps=4,progressive-jsd?steps=6"
RUNS: dict[str, list[str]] = {
    "attack": ["attack", *ROBUST, *COMMON, "--attack", ATTACKS, "--eps", "8/255", "--objects", "--pixels", "4"],
    "minimal": [
        "minimal",
        *NORMAL,
        *COMMON,
        "--attack",
        "ddn-auto?steps=12,alma-prox-auto?steps=12",
        "--enough",
        "0.99,0.5",
    ],
    "spatial": ["spatial", *NORMAL, *COMMON, *SNOW],
    "mad": ["mad", "demo", "--count", "20", "--workers", "1"],
}


SKIPPED = ("costs", "provenance")  # times; versions and machine


def make(name: str, folder: Path) -> dict[str, str]:
    """Every table of a run, by its path below the run's folder."""
    out = folder / name
    code = "import sys; from segstress.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, *RUNS[name], "--out", str(out)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: exit code {done.returncode}: {done.stderr[-2000:]}")
    paths = sorted(out.glob("*/tables/*.csv"))
    return {path.name: _without_seconds(path.read_text()) for path in paths if not path.stem.endswith(SKIPPED)}


def _without_seconds(text: str) -> str:
    """A table without its last column where that tells the time."""
    lines = text.splitlines(keepends=True)
    timed = lines and lines[0].rstrip().endswith(",seconds")
    return "".join(line.rpartition(",")[0] + "\n" for line in lines) if timed else text
