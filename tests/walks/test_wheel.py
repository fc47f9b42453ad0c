"""What people install: the wheel, in an empty environment, runs the demonstration."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import segstress

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_built_wheel_runs_the_demo_in_an_empty_environment(tmp_path: Path) -> None:
    """Downloads all that the package needs, torch among it; pip's own cache makes it bearable."""
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*command: object) -> str:
        done = subprocess.run(list(map(str, command)), cwd=tmp_path, env=plain, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name == f"segstress-{segstress.__version__}-py3-none-any.whl"
    venv.create(tmp_path / "empty", with_pip=True)
    run("empty/bin/pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
    assert run("empty/bin/segstress", "--version").split() == ["segstress", segstress.__version__]
    assert "worst case" in run("empty/bin/segstress", "demo", "--limit", 2)
    assert (tmp_path / "runs" / "demo" / "report" / "index.html").is_file()
