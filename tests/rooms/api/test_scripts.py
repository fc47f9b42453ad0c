"""Plain scripts, run as users run them: in a process of their own, without a guard."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

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


@pytest.mark.slow
def test_workers_behind_a_guard(tmp_path):
    text = f"""
        import segstress
        if __name__ == "__main__":
            print(segstress.evaluate({PLAN!r}, out='run', workers=2))
    """
    done = run(tmp_path, text)
    assert done.returncode == 0, done.stderr


MEMORY = """
    import torch
    import segstress

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.last = torch.nn.Conv2d(3, 4, 3, padding=1)

        def forward(self, images):
            return self.last(images)

    generator = torch.Generator().manual_seed(1)
    images, masks = torch.rand(2, 3, 8, 8, generator=generator), torch.randint(0, 4, (2, 8, 8), generator=generator)
    print(segstress.evaluate(Net(), (images, masks), attack="fgsm", eps="8/255", out="run"))
"""


def test_a_model_of_a_script_resumes_and_is_reported_elsewhere(tmp_path, segstress):
    first = run(tmp_path, MEMORY)
    assert first.returncode == 0, first.stderr
    written = sorted((tmp_path / "run").rglob("*.parquet"))
    times = [path.stat().st_mtime_ns for path in written]
    assert run(tmp_path, MEMORY).stdout == first.stdout
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "run").rglob("*.parquet"))] == times
    report, verify = segstress("report", "run"), segstress("verify", "run")  # this process has not evaluated it
    assert report.code == 0, report.err
    assert verify.code == 2
    assert "lives in the Python process that evaluated it" in verify.out + verify.err
