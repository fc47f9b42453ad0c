"""Preprocessing that has no gradient of its own is passed forward and taken as the identity backward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import segstress
from segstress import models
from segstress.core import BadInput

CODE = """
import torch

def squeeze(images):
    return images.mul_(32).round_().div_(32)

def cut(images):
    return images[..., 1:]

def nothing(images):
    return None
"""
IMAGES = torch.rand(2, 3, 16, 20, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with functions on images, one of which works in place."""
    path = tmp_path / "jpeg.py"
    path.write_text(CODE)
    return path


def test_the_gradient_is_that_of_the_identity(file: Path) -> None:
    plain = models.load("compact:cnn?scale=2&mean=0.1")
    rounding = models.load(f"compact:cnn?scale=2&mean=0.1&preprocess={file}:squeeze")
    images, squeezed = IMAGES.clone().requires_grad_(), ((32 * IMAGES).round() / 32).requires_grad_()
    logits, expected = rounding(images), plain(squeezed)
    assert torch.equal(logits, expected)
    (gradient,) = torch.autograd.grad(logits.square().sum(), images)
    assert torch.equal(gradient, torch.autograd.grad(expected.square().sum(), squeezed)[0])
    assert torch.equal(images.detach(), IMAGES)


def test_rounding_is_attacked_successfully(file: Path, tmp_path: Path) -> None:
    data = segstress.load_data("shapes:test?count=2")
    images, labels = (torch.stack([getattr(sample, name) for sample in data]) for name in ("image", "labels"))
    (tmp_path / "naive.py").write_text(
        "import torch\nfrom segstress import models\n\n\nclass Naive(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.net = models.load('compact:cnn-normal')\n\n"
        "    def forward(self, images):\n        return self.net((32 * images).round() / 32)\n"
    )
    damage = {}
    for name, spec in {
        "naive": f"factory:{tmp_path}/naive.py:Naive",
        "bpda": f"compact:cnn-normal?preprocess={file}:squeeze",
    }.items():
        found = segstress.attack("pgd", models.load(spec), images, labels, eps="8/255", steps=10)
        damage[name] = float(found.damage.mean())
    assert damage["naive"] < 0.3 < 0.8 < damage["bpda"]


def test_the_code_is_part_of_the_models_identity(file: Path) -> None:
    spec = f"compact:cnn?preprocess={file}:squeeze"
    before = models.fingerprint(models.load(spec), spec)
    assert before != models.fingerprint(models.load("compact:cnn"), "compact:cnn")
    ensemble: dict[str, Any] = {"kind": "ensemble", "members": [spec, "compact:unet"], "shares": [0.5, 0.5]}
    mixed = models.fingerprint(models.load(ensemble), ensemble)
    file.write_text(f"{CODE}# another version\n")
    assert models.fingerprint(models.load(spec), spec) != before
    assert models.fingerprint(models.load(ensemble), ensemble) != mixed


def test_a_model_without_preprocessing_keeps_the_fingerprint_it_had() -> None:
    """As made before there was such a setting, on this machine or another: the zoo's runs stay valid."""
    members = "ensemble?members=compact:cnn,compact:transformer&shares=0.25,0.75"
    for spec in ("compact:cnn-normal", members):
        plain = json.loads(json.dumps(models.models.spec(models.models.build(spec))))
        assert '"preprocess": ""' in json.dumps(plain)
        assert models.fingerprint(models.load(spec), plain) == models.fingerprint(models.load(spec), spec)
    assert models.fingerprint(models.load("compact:cnn-normal"), "compact:cnn-normal") == "aadde5ba61c4"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("cut", r"cut: expected a tensor \(2, 3, 16, 20\), like the one given, found \(2, 3, 16, 19\)"),
        ("nothing", "nothing: expected a tensor .*, found NoneType"),
        ("absent", "has no function 'absent'"),
    ],
)
def test_functions_that_do_not_serve(file: Path, name: str, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        models.load(f"compact:cnn?preprocess={file}:{name}")(IMAGES)


def test_a_setting_that_names_no_function() -> None:
    with pytest.raises(BadInput, match=r"preprocess 'squeeze': expected file\.py:function"):
        models.load("compact:cnn?preprocess=squeeze")


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_workers_have_it_and_the_report_names_it(file: Path, tmp_path: Path, segstress: Any, workers: int) -> None:
    spec = f"compact:cnn-normal?preprocess={file.name}:squeeze"
    how = ["--data", "shapes:test?count=2&size=48", "--attack", "pgd?steps=1", "--eps", "8/255", "--workers", workers]
    said = segstress("attack", "--model", spec, *how, "--out", "run")
    assert said.code == 0, said.err
    (page,) = (tmp_path / "run").rglob("index.html")
    assert "jpeg.py:squeeze, straight-through gradient" in page.read_text()
