"""SIGTERM ends a run as Ctrl-C does: workers go, one line is said, and the same command goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WORDS = (
    *("attack", "--model", "compact:cnn-normal", "--data", "shapes:test?count=8&size=64", "--eps", "8/255"),
    *("--attack", "pgd?steps=2000", "--workers", "2", "--shard-size", "1", "--out", "run"),
)


@pytest.mark.slow
def test_a_terminated_run_leaves_no_worker_and_no_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from segstress.cli.main import main; main()", *WORDS]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(15)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)  # returns once no worker holds the pipes any more
    assert process.returncode == 130, said
    assert "stopped; what is finished is kept" in said
    assert "warning" not in said.lower()
    assert "Traceback" not in said
