"""Checkpoints as authors release them: found, freed of wrappings, renamed, and every tensor accounted for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from segstress import models
from segstress.core import BadInput
from segstress.models.weights import Weighted, fill

CODE = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4))
        self.head = nn.Conv2d(4, 5, 1)

    def forward(self, images):
        return self.head(self.backbone(images))
"""
Weights = dict[str, Tensor]


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """A network of the user's, and where its weights will be."""
    (tmp_path / "net.py").write_text(CODE)
    return f"factory:{tmp_path}/net.py:Net?weights={tmp_path}/released.pth"


@pytest.fixture
def trained(tmp_path: Path, spec: str) -> Weights:
    """Random weights that fit."""
    network = models.models.build(spec.partition("?")[0]).network()
    return {
        name: torch.randn_like(tensor) if tensor.is_floating_point() else tensor + 3
        for name, tensor in network.state_dict().items()
    }


def prefixed(weights: Weights, prefix: str) -> Weights:
    """Weights with a beginning before every name."""
    return {prefix + name: tensor for name, tensor in weights.items()}


def mmengine_like(weights: Weights) -> dict[str, Any]:
    """With what trainers store beside."""
    history = argparse.Namespace(rate=np.float64(0.1), log=np.arange(3), flag=np.bool_(True))
    meta = {"seed": np.int64(3), "classes": ("road", "sky"), "palette": np.zeros((2, 3), np.uint8), "args": history}
    return {"meta": meta, "state_dict": weights, "optimizer": {"state": {0: {"step": torch.tensor(1.0)}}}}


FORMS: dict[str, Callable[[Weights], Any]] = {
    "nested": lambda weights: {"epoch": 3, "state_dict": weights, "optimizer": {"state": {}, "param_groups": [1]}},
    "nested twice": lambda weights: {"checkpoint": {"model": weights}},
    "meta objects": mmengine_like,
    "parallel": lambda weights: {"state_dict": prefixed(weights, "module.")},
    "compiled": lambda weights: prefixed(weights, "module._orig_mod."),
    "lightning": lambda weights: {"state_dict": prefixed(weights, "model.")},
    "averaged": lambda weights: {"n_averaged": torch.tensor(7), **prefixed(weights, "module.")},
    "auxiliary head": lambda weights: {**weights, "aux.0.weight": torch.ones(3), "auxiliary_head.bias": torch.ones(1)},
    "old batch norm": lambda weights: {name: value for name, value in weights.items() if "tracked" not in name},
}


@pytest.mark.parametrize("form", FORMS)
def test_what_authors_release(tmp_path: Path, spec: str, trained: Weights, form: str) -> None:
    torch.save(FORMS[form](trained), tmp_path / "released.pth")
    network = models.models.build(spec).network()
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, trained[name]) or "tracked" in name


def test_an_average_is_taken_only_when_it_is_named(tmp_path: Path, spec: str, trained: Weights) -> None:
    average = {name: tensor * 2 for name, tensor in trained.items()}
    torch.save({"model": trained, "model_ema": prefixed(average, "module.")}, tmp_path / "released.pth")
    with pytest.raises(BadInput, match="hold model and model_ema; set weights_key"):
        models.load(spec)
    network = models.models.build(f"{spec}&weights_key=model_ema").network()
    assert torch.equal(network.state_dict()["head.bias"], 2 * trained["head.bias"])


def test_rename_and_ignore_account_for_every_tensor(tmp_path: Path, spec: str, trained: Weights) -> None:
    released = {name.replace("backbone.", "encoder.").replace("head", "cls.4"): each for name, each in trained.items()}
    released |= {"loss.weight": torch.ones(1), "proj.weight": torch.ones(1), "proj.bias": torch.ones(1)}
    torch.save(released, tmp_path / "released.pth")
    chosen = models.models.build(f"{spec}&rename=encoder.:backbone.,cls.4:head&ignore=loss.,p*.weight,proj.b")
    assert isinstance(chosen, Weighted)
    loaded = chosen.fill(chosen.network())
    assert set(loaded.used) == set(trained)
    assert ("cls.4.bias", "head.bias") in loaded.renamed
    assert set(loaded.left_out) == {"loss.weight", "proj.weight", "proj.bias"}
    assert str(loaded) == "9 used, 9 renamed, 3 left out, 0 untouched"
    assert "used      head.bias (was cls.4.bias)" in loaded.lines()
    assert models.models.build(models.models.spec(chosen)) == chosen


def test_a_beginning_may_be_cut_off(spec: str) -> None:
    chosen = models.models.build(f"{spec}&rename=student.:")
    assert isinstance(chosen, Weighted)
    assert chosen.rename == {"student.": ""}


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ("", "missing head.bias, head.weight; unexpected cls.bias, cls.weight; rename and ignore may"),
        ("rename=clss.:head.", "rename: no name begins with 'clss.'"),
        (
            "rename=cls.:backbone.0.",
            r"'backbone\.0\.weight' and 'cls\.weight' would both be named 'backbone\.0\.weight'",
        ),
        ("ignore=cls.", "missing head.bias, head.weight; unexpected none"),
    ],
)
def test_a_part_that_does_not_fit_is_never_passed_over(
    tmp_path: Path, spec: str, trained: Weights, settings: str, fault: str
) -> None:
    torch.save({name.replace("head", "cls"): tensor for name, tensor in trained.items()}, tmp_path / "released.pth")
    with pytest.raises(BadInput, match=fault):
        models.load(f"{spec}&{settings}" if settings else spec)


def test_another_architecture_shows_how_both_begin() -> None:
    network = nn.Sequential(*(nn.Linear(2, 2) for _ in range(3)))
    other = {f"layer{number}.weight": torch.zeros(2) for number in range(6)}
    fault = (
        r"The file has layer0.weight, layer1.weight, layer2.weight, layer3.weight, layer4.weight, \.\.\. \(6\); "
        r"the network wants 0.weight, 0.bias, 1.weight, 1.bias, 2.weight, \.\.\. \(6\)"
    )
    with pytest.raises(BadInput, match=fault):
        fill(network, other, "other.pth")
    with pytest.raises(BadInput, match="do not fit"):
        fill(network, other, "other.pth", ignore=["layer", "0", "1", "2"])


class Harmful:
    """Would run code when it is unpickled."""

    def __reduce__(self) -> Any:
        return (print, ("unpickled",))


def test_code_is_never_run(tmp_path: Path, spec: str, trained: Weights, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"state_dict": trained, "meta": Harmful()}, tmp_path / "released.pth")
    with pytest.raises(BadInput, match="hold more than tensors and are refused"):
        models.load(spec)
    assert capsys.readouterr().out == ""
