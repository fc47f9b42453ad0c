"""Curves for TensorBoard: what is written, and what is said where the package is missing."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from segstress.core import BadInput
from segstress.training import Moment, Watcher
from segstress.training.board import board


class Writer:
    """Remembers what it is given."""

    def __init__(self, folder: str) -> None:
        self.folder, self.scalars, self.closed = folder, [], False
        written.append(self)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, value, step))

    def close(self) -> None:
        self.closed = True


written: list[Writer] = []


def test_curves_are_written_and_the_other_watcher_is_told(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer))
    told = []
    with board(tmp_path, Watcher(step=told.append, epoch=told.append)) as watcher:
        watcher.step(Moment(step=3, steps=9, loss=0.5, accuracy=0.25))
        watcher.epoch({"epoch": 1, "loss": 0.4, "accuracy": 0.3, "validation": {"clean": {"cmiou": 0.7}}})
    (writer,) = written
    assert writer.folder == str(tmp_path)
    assert writer.scalars == [("step/loss", 0.5, 3), ("step/accuracy", 0.25, 3), ("clean/cmiou", 0.7, 1)]
    assert writer.closed
    assert len(told) == 2


def test_without_the_package_one_line_says_what_to_install(monkeypatch, tmp_path, segstress):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(BadInput, match=r"pip install 'segstress\[tensorboard\]'"), board(tmp_path, Watcher()):
        pass
    said = segstress("train", "--tensorboard", "--out", tmp_path / "out")
    assert said.code == 2
    assert said.err.startswith("segstress: --tensorboard needs more")
    assert not (tmp_path / "out" / "state.safetensors").exists()
