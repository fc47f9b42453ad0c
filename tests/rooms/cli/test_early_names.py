"""Misspelt names are answered before torch is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from segstress.cli.names import PLAN, fields
from segstress.planning.plan import Plan

SCRIPT = """
import sys
from segstress.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print("torch loaded" if "torch" in sys.modules else "no torch")
"""
LACKING = """
from segstress.attacks import attacks
from segstress.cli.names import registered
from segstress.core import perturbations
from segstress.corruptions import corruptions
from segstress.data import datasets
from segstress.models import models

sorts = {"attack": (attacks, corruptions, perturbations), "model": (models,), "dataset": (datasets,)}
print([name for sort, all_ in sorts.items() for one in all_ for name in one.names() if name not in registered(sort)])
"""
ASKED = ("attack", "--model", "compact:cnn-normal", "--data", "shapes:test")


def test_source_tells_every_name() -> None:
    """In a process of its own, since other tests register more."""
    done = subprocess.run([sys.executable, "-c", LACKING], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"
    assert fields(PLAN, "Plan") == set(Plan.__dataclass_fields__)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((*ASKED, "--attack", "annealed-eror"), "unknown attack 'annealed-eror'; did you mean 'annealed-error'?"),
        ((*ASKED, "--battery", "stron"), "unknown battery 'stron'; did you mean 'strong'?"),
        (("doctor", "--model", "compct:x", "--data", "shapes:test"), "unknown model 'compct'; did you mean 'compact'?"),
        (("plan", "--model", "compact:x", "--data", "shaps", "--attack", "pgd"), "unknown dataset 'shaps'"),
    ],
)
def test_wrong_name_is_answered_without_torch(words: tuple[str, ...], line: str) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert line in done.stderr
    assert done.stdout.strip() == "no torch"


def test_wrong_key_of_a_plan_is_answered_without_torch(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("models: [compact:cnn-normal]\ndata: [shapes:test]\nbatery: quick\n")
    done = subprocess.run([sys.executable, "-c", SCRIPT, "run", str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "unknown key of a plan 'batery'; did you mean 'battery'?" in done.stderr
    assert done.stdout.strip() == "no torch"
