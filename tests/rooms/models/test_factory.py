"""Networks from user code: found, called, filled with weights, named and hashed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from segstress import models
from segstress.core import BadInput
from segstress.models.factory import Factory

CODE = """
from torch import nn

def tiny(classes=2, width=4):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.Dropout(), nn.Conv2d(width, classes, 1))

def text(classes=2):
    return "a network"

number = 3
"""


@pytest.fixture
def nets(tmp_path: Path) -> Path:
    """A file of the user's."""
    path = tmp_path / "nets.py"
    path.write_text(CODE)
    return path


@pytest.fixture
def trained(nets: Path) -> dict[str, torch.Tensor]:
    """Weights for its network with five classes."""
    network = Factory(function=f"{nets}:tiny", classes=5).network()
    return {name: torch.randn_like(tensor) for name, tensor in network.state_dict().items()}


def test_a_function_in_a_file(nets: Path) -> None:
    segmenter = models.load(f"factory:{nets}:tiny?classes=5&mean=0.4,0.5,0.6&std=0.2")
    assert segmenter(torch.rand(1, 3, 8, 9)).shape == (1, 5, 8, 9)
    assert segmenter.interface.mean == (0.4, 0.5, 0.6)
    assert not any(module.training for module in segmenter.modules())
    assert not any(parameter.requires_grad for parameter in segmenter.parameters())


def test_a_function_in_a_module_with_arguments() -> None:
    spec = {
        "kind": "factory",
        "function": "torch.nn:Conv2d",
        "arguments": {"in_channels": 3, "out_channels": 4, "kernel_size": 1},
    }
    assert models.load(spec)(torch.rand(1, 3, 5, 5)).shape == (1, 4, 5, 5)


@pytest.mark.parametrize("form", ["plain.pth", "entry.pth", "parallel.pth", "plain.safetensors"])
def test_weights_of_every_form(nets: Path, trained: dict[str, torch.Tensor], form: str) -> None:
    path, key = nets.parent / form, ""
    if form == "plain.safetensors":
        save_file(trained, path)
    elif form == "entry.pth":
        key = "state.model"
        torch.save({"epoch": 3, "state": {"model": trained}}, path)
    else:
        prefix = "module." if form == "parallel.pth" else ""
        torch.save({prefix + name: tensor for name, tensor in trained.items()}, path)
    network = Factory(function=f"{nets}:tiny", classes=5, weights=path, weights_key=key).network()
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, trained[name])


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        ("{nets}:big", "has no function 'big'"),
        ("{nets}:number", "has no function 'number'"),
        ("{nets}:text", "returned str; expected a torch.nn.Module"),
        ("{nets}", "expected file.py:function"),
        ("nowhere.py:tiny", "file 'nowhere.py' does not exist"),
        ("no.such.module:tiny", "cannot be imported"),
    ],
)
def test_what_makes_no_network_is_refused(nets: Path, function: str, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        models.load(f"factory:{function.format(nets=nets)}")


def test_arguments_that_the_function_does_not_take_are_named(nets: Path) -> None:
    with pytest.raises(BadInput, match="depth"):
        models.load({"kind": "factory", "function": f"{nets}:tiny", "arguments": {"depth": 3}})


def change(weights: dict[str, torch.Tensor], how: str) -> Any:
    """Weights with one fault."""
    if how == "missing":
        return {name: tensor for name, tensor in weights.items() if name != "2.bias"}
    if how == "unexpected":
        return {**weights, "3.weight": torch.zeros(1)}
    if how == "shape":
        return {**weights, "2.bias": torch.zeros(7)}
    if how == "pickled":
        return {"weights": weights, "network": nn.Identity()}
    return {"epoch": 1, "model": weights, "ema": weights}


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ("missing", "missing 2.bias; unexpected none"),
        ("unexpected", "missing none; unexpected 3.weight"),
        ("shape", r"2\.bias has shape \(7,\), expected \(5,\)"),
        ("pickled", "hold more than tensors and are refused"),
        ("entry", "hold model and ema; set weights_key to the one you want"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    nets: Path, trained: dict[str, torch.Tensor], how: str, fault: str
) -> None:
    path = nets.parent / "weights.pth"
    torch.save(change(trained, how), path)
    with pytest.raises(BadInput, match=fault):
        models.load(f"factory:{nets}:tiny?classes=5&weights={path}")


@pytest.mark.parametrize("name", ["absent.pth", "empty.pth", "noise.pth", "noise.safetensors"])
def test_weights_that_cannot_be_read_are_refused(nets: Path, name: str) -> None:
    path = nets.parent / name
    if not name.startswith("absent"):
        path.write_bytes(b"" if name.startswith("empty") else b"\x93no weights at all" * 9)
    with pytest.raises(BadInput, match=name):
        models.load(f"factory:{nets}:tiny?weights={path}")


def test_the_hash_sees_weights_settings_and_code(nets: Path, trained: dict[str, torch.Tensor]) -> None:
    path = nets.parent / "weights.safetensors"
    save_file(trained, path)
    chosen = Factory(function=f"{nets}:tiny", classes=5, weights=path)
    first = models.fingerprint(models.load(chosen), chosen)
    assert models.fingerprint(models.load(chosen), models.models.spec(chosen)) == first

    flipped = dataclasses.replace(chosen, bgr=True)
    assert models.fingerprint(models.load(flipped), flipped) != first
    other = models.load(chosen)
    other.network[2].bias[0] += 1e-6
    assert models.fingerprint(other, chosen) != first
    nets.write_text(CODE + "\n# another version\n")
    assert models.fingerprint(models.load(chosen), chosen) != first


def test_labels_tell_models_apart(nets: Path) -> None:
    assert Factory(function=f"{nets}:tiny").label == "tiny"
    assert Factory(function=f"{nets}:tiny", weights=Path("runs/tiny.pth")).label == "tiny"
    assert Factory(function=f"{nets}:tiny", weights=Path("runs/robust 50%.pth")).label == "tiny-robust-50"
