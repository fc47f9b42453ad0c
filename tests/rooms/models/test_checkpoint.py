"""Our own checkpoints: whole or absent, and a card that says what they are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from segstress import models
from segstress.core import BadInput
from segstress.models.checkpoint import Checkpoint, read_card
from segstress.models.compact import Compact

CARD = {"architecture": {"kind": "compact", "name": "cnn", "classes": 3}, "steps": 1500}


@pytest.fixture
def network() -> nn.Module:
    """A network to save."""
    return Compact(name="cnn", classes=3, seed=7).network()


def test_what_is_saved_is_what_is_loaded(tmp_path: Path, network: nn.Module) -> None:
    path = tmp_path / "mine.safetensors"
    models.save(network, path, CARD)
    segmenter = models.load(f"checkpoint:{path}")
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, segmenter.network.state_dict()[name])
    assert read_card(path) == CARD
    assert [file.name for file in tmp_path.iterdir()] == ["mine.safetensors"]
    assert Checkpoint(path=path).label == "mine"


def test_an_interrupted_save_leaves_the_old_file(
    tmp_path: Path, network: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.safetensors"
    models.save(network, path, CARD)
    before = path.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        models.save(Compact(name="cnn", classes=3, seed=8).network(), path, CARD)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["mine.safetensors"]


def test_the_card_may_lie_beside(tmp_path: Path, network: nn.Module) -> None:
    path = tmp_path / "mine.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, path)
    with pytest.raises(BadInput, match=r"has no card; expected one in its header or in mine\.json"):
        models.load(f"checkpoint:{path}")
    path.with_suffix(".json").write_text(json.dumps(CARD))
    images = torch.rand(1, 3, 24, 24)
    assert torch.equal(models.load(f"checkpoint:{path}")(images), network.eval()(images))


def test_the_interface_comes_from_the_card_and_the_user_may_change_it(tmp_path: Path, network: nn.Module) -> None:
    path = tmp_path / "mine.safetensors"
    architecture = {**CARD["architecture"], "mean": [0.1, 0.2, 0.3], "bgr": True}
    models.save(network, path, {"architecture": architecture})
    told = models.load(f"checkpoint:{path}?window=32&mean=0.5").interface
    assert (told.bgr, told.window, told.mean) == (True, (32, 32), (0.5,))
    assert models.load(f"checkpoint:{path}").interface.mean == (0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("card", "fault"),
    [
        ({}, "no 'architecture'"),
        ({"architecture": "compact:cnn?classes=4"}, r"classify\.weight has shape \(3, 24, 1, 1\), expected \(4"),
        ({"architecture": "compact:transformer"}, "do not fit: another architecture"),
        ({"architecture": "compat:cnn"}, "unknown model 'compat'"),
    ],
)
def test_a_card_that_does_not_fit_is_refused(
    tmp_path: Path, network: nn.Module, card: dict[str, str], fault: str
) -> None:
    path = tmp_path / "mine.safetensors"
    save_file(
        {name: tensor.contiguous() for name, tensor in network.state_dict().items()}, path, {"card": json.dumps(card)}
    )
    with pytest.raises(BadInput, match=fault):
        models.load(f"checkpoint:{path}")


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    with pytest.raises(BadInput, match="does not exist"):
        models.load(f"checkpoint:{path}")
    path.write_bytes(b"nothing of the sort")
    with pytest.raises(BadInput, match="cannot be read"):
        models.load(f"checkpoint:{path}")
