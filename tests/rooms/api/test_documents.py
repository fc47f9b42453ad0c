"""The Python that documents show is run as it stands, with small stand-ins for what the reader has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import segstress

ROOT = Path(__file__).parents[3]
STAND_INS = """
import torch
import segstress
model = segstress.load_model("compact:cnn-normal").network
images = torch.stack([sample.image for sample in segstress.load_data("shapes:test?count=4&size=32")])
labels = torch.stack([sample.labels for sample in segstress.load_data("shapes:test?count=4&size=32")])
dataset = torch.utils.data.TensorDataset(images, labels)
"""


def blocks(document: str, first: str = "", last: str = "") -> str:
    """The Python of a document, or of a part of it."""
    text = (ROOT / document).read_text()
    text = text[text.index(first) :] if first else text
    text = text[: text.index(last)] if last else text
    return "\n".join(re.findall("^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


README = blocks("README.md", "## In Python", "## What a robustness figure means")
PAGE = blocks("docs/python.md")


@pytest.mark.parametrize("code", [README, PAGE], ids=["README", "python.md"])
def test_code_runs_as_it_stands(code, tmp_path):
    (tmp_path / "script.py").write_text(STAND_INS + code)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readme_names_every_function():
    shown = set(re.findall(r"segstress\.(\w+)\(", README))
    functions = {name for name in segstress.__all__ if name[0].islower()}
    assert shown == functions
