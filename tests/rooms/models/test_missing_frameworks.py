"""What is said when a framework is missing, too old or broken; and that pip installs what is asked for."""

from __future__ import annotations

import importlib.metadata
import sys
import tomllib
from pathlib import Path

import pytest

from segstress import models
from segstress.core import BadInput
from segstress.models.frameworks import EXTRAS

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("torchvision:fcn_resnet50", "torchvision", "torchvision"),
        ("torchvision:fcn_resnet50", "torchvision.models", "torchvision"),
        ("smp:unet", "segmentation_models_pytorch", "smp"),
        ("hf:{folder}/config.json", "transformers", "hf"),
        ("onnx:{folder}/config.json", "onnx", "onnx"),
    ],
)
def test_a_missing_framework_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, module: str, extra: str
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadInput, match=rf"needs {module}, which is not installed: pip install 'segstress\[{extra}\]'"):
        models.load(spec.format(folder=tmp_path))


def write_package(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """A segmentation_models_pytorch of our own."""
    package = folder / "segmentation_models_pytorch"
    package.mkdir()
    (package / "part.py").write_text("")
    (package / "__init__.py").write_text(f"import segmentation_models_pytorch.part\n{code}")
    for name in [name for name in sys.modules if name.partition(".")[0] == package.name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(folder)


def test_a_broken_framework_says_what_it_raised_and_leaves_no_ruins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_package(tmp_path, monkeypatch, "raise RuntimeError('operator torchvision::nms does not exist')")
    for _ in range(2):
        with pytest.raises(BadInput, match=r"installed, but its import fails: RuntimeError: operator torchvision::nms"):
            models.load("smp:unet")
        assert not any(name.startswith("segmentation_models_pytorch") for name in sys.modules)


def test_a_dependency_that_a_framework_lacks_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_package(tmp_path, monkeypatch, "import nowhere_to_be_found")
    with pytest.raises(BadInput, match=r"needs nowhere_to_be_found, which is not installed: pip install 'seg"):
        models.load("smp:unet")


def test_a_framework_of_another_version_is_told_the_one_that_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("timm")
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.9.16" if name == "timm" else real(name))
    with pytest.raises(BadInput, match=r"needs timm 1\.0 or later, found 0\.9\.16: pip install --upgrade 'segstress"):
        models.load("smp:unet")


def test_versions_are_those_that_pip_is_told() -> None:
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        for package in packages:
            limits = f">={package.least}" + (f",<{package.below}" if package.below else "")
            names = package.distributions or (package.module,)
            assert any(f"{name}{limits}" in extras[extra] for name in names), f"{extra}: {package.module}{limits}"
