"""What is said when a framework is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from segstress import models
from segstress.core import BadInput


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("torchvision:fcn_resnet50", "torchvision.models", "torchvision"),
        ("smp:unet", "segmentation_models_pytorch", "smp"),
        ("hf:{folder}", "transformers", "hf"),
        ("onnx:{folder}/config.json", "onnx", "onnx"),
    ],
)
def test_a_missing_framework_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, module: str, extra: str
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadInput, match=rf"pip install 'segstress\[{extra}\]'"):
        models.load(spec.format(folder=tmp_path))


def test_a_framework_that_does_not_go_with_this_torch_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "segmentation_models_pytorch.py"
    broken.write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.delitem(sys.modules, "segmentation_models_pytorch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=r"segstress\[smp\].*torchvision::nms does not exist"):
        models.load("smp:unet")
