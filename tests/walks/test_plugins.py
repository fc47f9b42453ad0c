"""Adding is one file: a plug-in with one registration is in the outcome of a command, run in a fresh process.

Metrics, tables and figures: tests/rooms/reports/test_plugin_parts.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
from typing import ClassVar
import torch
from segstress.core import regions, settings, targets, Wanted
"""
ATTACK = """
from segstress.attacks import attacks
@attacks.register("mine")
@settings
class Mine:
    \"\"\"One step of nothing (nobody, arXiv:0000.00000).\"\"\"
    seeks: ClassVar = "damage"
    reaches: ClassVar = None
    steps: int = 1
    def run(self, problem):
        return problem.start(True)
    def passes(self):
        return 3, 0
"""
LOSS = """
from segstress.attacks import losses
@losses.register("mine")
def mine(view):
    \"\"\"The label's logit, downwards.\"\"\"
    return -view.logits.gather(1, view.labels[:, None])[:, 0]
"""
CORRUPTION = """
from segstress.corruptions.corruption import Corruption, corruptions
@corruptions.register("mine")
@settings
class Mine(Corruption):
    \"\"\"Darker.\"\"\"
    levels: ClassVar = ((0.9,), (0.8,), (0.7,), (0.6,), (0.5,))
    def degrade(self, images, level, draws):
        return images * level[0]
"""
MODEL = """
from segstress.models import Model, models
@models.register("mine")
@settings
class Mine(Model):
    \"\"\"A single convolution.\"\"\"
    @property
    def label(self):
        return "mine"
    def network(self):
        torch.manual_seed(0)
        return torch.nn.Conv2d(3, 7, 1)
"""
DATASET = """
from segstress.data import Dataset, Sample, datasets
@datasets.register("mine")
@settings
class Mine(Dataset):
    \"\"\"Two grey images.\"\"\"
    name: ClassVar = "mine"
    classes: ClassVar = tuple("abcdefg")
    void: ClassVar = "none"
    def ids(self):
        return ["a", "b"]
    def contents(self):
        return self.ids()
    def read(self, id):
        labels = torch.zeros((16, 16), dtype=torch.int64)
        return Sample(id, torch.full((3, 16, 16), 0.5), labels, labels == 0, id)
"""
REGION = """
@regions.register("mine")
@settings
class Mine:
    \"\"\"The upper half.\"\"\"
    def mask(self, batch, seed):
        mask = torch.zeros_like(batch.valid)
        mask[:, : mask.shape[1] // 2] = True
        return mask
"""
TARGET = """
@targets.register("mine")
@settings
class Mine:
    \"\"\"Class 2 everywhere.\"\"\"
    label: ClassVar = "mine"
    def wanted(self, batch, scene):
        return Wanted(torch.full_like(batch.labels, 2), torch.ones_like(batch.valid))
"""
DATA = ["--data", "shapes:test?count=2&size=32"]
CNN = ["--model", "compact:cnn-normal"]
WITHIN = ["--eps", "8/255", "--workers", "1"]
CASES = {  # the file, a command that uses it, and where its name must show in the figures
    "attack": (ATTACK, ["attack", *CNN, *DATA, *WITHIN, "--attack", "mine"], "perturbations"),
    "loss": (LOSS, ["attack", *CNN, *DATA, *WITHIN, "--attack", "pgd?steps=1&loss=mine"], "perturbations"),
    "region": (REGION, ["attack", *CNN, *DATA, *WITHIN, "--attack", "pgd?steps=1&region=mine"], "perturbations"),
    "target": (TARGET, ["attack", *CNN, *DATA, *WITHIN, "--attack", "pgd?steps=1", "--target", "mine"], "threat"),
    "model": (MODEL, ["attack", "--model", "mine", *DATA, *WITHIN, "--attack", "pgd?steps=1"], "model"),
    "dataset": (DATASET, ["attack", *CNN, "--data", "mine", *WITHIN, "--attack", "pgd?steps=1"], "data"),
    "corruption": (
        CORRUPTION,
        ["spatial", *CNN, *DATA, "--corruption", "mine", "--severity", "3", "--patch", "8", "--workers", "1"],
        "perturbations",
    ),
}


def command(folder: Path, *words: str) -> str:
    """What a command says, in a process of its own."""
    script = "import sys; from segstress.cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", CASES)
def test_one_file_is_enough(kind, tmp_path):
    source, words, place = CASES[kind]
    (tmp_path / "mine.py").write_text(HEAD + source)
    figures = command(tmp_path, *words, "--plugin", "mine.py", "--out", "run", "--json")
    if kind in ("attack", "corruption"):  # the plan names the plug-in, so others need not
        figures = command(tmp_path, "report", "run", "--json")
    (run,) = json.loads(figures)["runs"]
    assert "mine" in str(list(run[place]) if isinstance(run[place], dict) else run[place])


FORMAT = """
from pathlib import Path
from segstress.competition.formats.label_task import LabelResult, formats
@formats.register("mine")
@settings
class Mine:
    \"\"\"Names of images, and nothing to read.\"\"\"
    def write(self, tasks, scheme, folder):
        folder.mkdir(parents=True)
        (folder / "names.txt").write_text("\\n".join(task.image for task in tasks))
    def read(self, folder, scheme):
        names = (folder / "names.txt").read_text().split()
        return (LabelResult(name, scheme.blank(96, 96) * 0 + 1) for name in names)
"""


def test_one_file_is_enough_for_an_annotation_format(tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + FORMAT)
    plugin = ["--plugin", "mine.py", "--format", "mine"]
    assert "mine" in command(tmp_path, "list", "formats", "--plugin", "mine.py")
    command(tmp_path, "mad", "demo", "--count", "10", "--workers", "1", "--out", "mad")
    command(tmp_path, "mad", "export", "mad", "--to", "out", *plugin)
    names = (tmp_path / "out" / "names.txt").read_text().split()
    assert names
    assert f"{len(names)} taken" in command(tmp_path, "mad", "import", "mad", "--from", "out", *plugin)
