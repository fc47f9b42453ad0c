"""Every adapter from the command line in a fresh process, as a new user meets it: no test has prepared anything."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.rooms.models.test_frameworks import write_onnx
from tests.rooms.models.test_huggingface import segformer

import segstress

SOURCE = Path(segstress.__file__).parents[1]
RUN = "import sys; from segstress.cli.main import main; main(sys.argv[1:])"


def make_hf(path: Path) -> None:
    """A tiny SegFormer with its preprocessor."""
    network = segformer(pytest.importorskip("transformers"), classes=7)
    network.save_pretrained(path)
    rules = {"do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.25] * 3}
    (path / "preprocessor_config.json").write_text(json.dumps(rules))


def make_onnx(path: Path) -> None:
    """One convolution, halved and grown again."""
    write_onnx(path, "half_pixel", classes=7)


MAKERS = {"hf:net": make_hf, "onnx:net": make_onnx}  # the others need no file


def segstress_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("package", "spec"),
    [
        ("torchvision", "torchvision:lraspp_mobilenet_v3_large?classes=7"),
        ("segmentation-models-pytorch", "smp:fpn?encoder=tu-mobilenetv3_small_050&classes=7"),
        ("transformers", "hf:net"),
        ("onnx2pytorch", "onnx:net"),
        ("mmsegmentation", "mmseg:segformer_mit-b0_8xb2-160k_ade20k-512x512?classes=7"),
    ],
)
def test_a_fresh_process_attacks_a_model_of_every_framework(
    tmp_path: Path, installed: None, package: str, spec: str
) -> None:
    if spec in MAKERS:
        MAKERS[spec](tmp_path / "net")
    words = ["--data", "shapes:test?count=1&size=64", "--attack", "pgd?steps=1", "--eps", "8/255", "--workers", "1"]
    answer = segstress_in(tmp_path, "attack", "--model", spec, *words)
    assert answer.returncode == 0, answer.stderr


@pytest.fixture
def installed(package: str) -> None:
    """Skip where a framework is not installed; asked without an import, which is what the test is about."""
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
