"""Plain scripts, run as users run them: in a process of their own, without a guard."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

PLAN = {
    "models": ["compact:cnn-normal"],
    "data": ["shapes:test?count=2&size=24"],
    "perturbations": ["fgsm"],
    "eps": 0.1,
}


def run(folder, text, *words):
    script = folder / "script.py"
    script.write_text(dedent(text))
    return subprocess.run([sys.executable, script, *words], cwd=folder, capture_output=True, text=True, check=False)


def test_without_a_guard(tmp_path):
    done = run(tmp_path, f"import segstress\nprint(segstress.evaluate({PLAN!r}, out='run'))")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert "cnn-normal on shapes-test" in done.stdout


def test_workers_without_a_guard_are_explained(tmp_path):
    text = f"import segstress\nsegstress.evaluate({PLAN!r}, out='run', workers=2)"
    done = run(tmp_path, text)
    assert done.returncode == 1
    lines = done.stderr.strip().splitlines()
    assert 'if __name__ == "__main__":' in lines[-1]
    assert sum(line.startswith("Traceback") for line in lines) == 1, "the workers themselves say nothing"


def test_workers_behind_a_guard(tmp_path):
    text = f"""
        import segstress
        if __name__ == "__main__":
            print(segstress.evaluate({PLAN!r}, out='run', workers=2))
    """
    done = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
