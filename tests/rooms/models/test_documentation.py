"""docs/models.md says what works: its specs are built, its worked example is run on a network of that layout."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from segstress import models

TEXT = (Path(__file__).parents[3] / "docs" / "models.md").read_text()
KINDS = "|".join(models.models.names())
SPECS = re.findall(rf"`((?:{KINDS})[:?][^`]+)`", TEXT)
SEMSEG = """
from torch import nn

class PSPNet(nn.Module):
    def __init__(self, layers=50, classes=2, zoom_factor=8, pretrained=True):
        super().__init__()
        assert not pretrained
        self.layer0 = nn.Sequential(nn.Conv2d(3, 4, 3, 8, 1), nn.BatchNorm2d(4))
        self.cls = nn.Sequential(nn.Conv2d(4, 4, 1), nn.Conv2d(4, classes, 1))
        self.aux = nn.Sequential(nn.Conv2d(4, classes, 1)) if self.training else None

    def forward(self, x, y=None):
        size = x.shape[-2:]
        assert all((side - 1) % 8 == 0 for side in size)
        return nn.functional.interpolate(self.cls(self.layer0(x)), size=size, mode="bilinear", align_corners=True)
"""


def block(file: str) -> str:
    """The code that the page shows for a file."""
    (code,) = re.findall(rf"```python\n(# {re.escape(file)}.*?)```", TEXT, re.DOTALL)
    return str(code)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if not spec.endswith(":")])
def test_specs_are_built(spec: str) -> None:
    assert models.models.build(spec).label


def test_every_kind_is_mentioned() -> None:
    registry = models.models
    ours = {name for name in registry.names() if registry.get(name).__module__.startswith("segstress.")}
    assert {re.split("[:?]", spec)[0] for spec in SPECS} == ours - {"pruned", "memory"}  # of contests, of Python


def test_the_worked_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = block("DDC-AT/stress.py")
    (spec,) = re.findall(r"```text\n(.*?)\n```", TEXT, re.DOTALL)
    (tmp_path / "DDC-AT" / "model").mkdir(parents=True)
    (tmp_path / "DDC-AT" / "model" / "pspnet.py").write_text(SEMSEG)
    (tmp_path / "DDC-AT" / "stress.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    network = models.models.build(re.sub("&weights=[^&]+", "", spec)).network()
    weights = {f"module.{name}": torch.randn_like(tensor.float()) for name, tensor in network.state_dict().items()}
    torch.save({"epoch": 50, "state_dict": weights, "optimizer": {"state": {}}}, "train_epoch_50.pth")
    assert models.load(spec)(torch.rand(1, 3, 60, 70)).shape == (1, 21, 60, 70)
    assert models.load(f"{spec}&window=33")(torch.rand(1, 3, 60, 70)).shape == (1, 21, 60, 70)


def test_the_example_of_preprocessing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jpeg.py").write_text(block("jpeg.py"))
    monkeypatch.chdir(tmp_path)
    images = torch.rand(2, 3, 32, 40, generator=torch.Generator().manual_seed(0)).requires_grad_()
    segmenter = models.load("compact:cnn-normal?preprocess=jpeg.py:squeeze")
    logits = segmenter(images)
    assert not torch.allclose(logits, models.load("compact:cnn-normal")(images), atol=1e-3)
    assert torch.autograd.grad(logits.square().sum(), images)[0].any()


def test_the_example_of_exporting(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(block("export.py"), names)
    names["save"](torch.nn.Conv2d(3, 4, 3, padding=1), str(tmp_path / "net.pt2"))
    assert models.load(f"exported:{tmp_path}/net.pt2")(torch.rand(1, 3, 64, 96)).shape == (1, 4, 64, 96)
