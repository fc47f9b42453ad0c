"""A training that is stopped after an epoch goes on bit for bit, whatever the order in which weights lie in memory."""

from __future__ import annotations

from segstress.fitting.plan import read_training_plan
from segstress.fitting.train import train
from segstress.training.loop import Loop

SMALL = {"batch_size": 8, "data": "shapes:train?count=16&size=32", "validation": "shapes:val?count=4&size=32"}


def test_a_network_in_channels_last_goes_on_bit_for_bit(tmp_path, monkeypatch):
    plan = read_training_plan("cnn-normal", {"epochs": 2, **SMALL})
    whole = train(plan, tmp_path / "whole").read_bytes()
    with monkeypatch.context() as patch:
        save = Loop._save_state

        def save_and_stop(self):
            save(self)
            raise KeyboardInterrupt

        patch.setattr(Loop, "_save_state", save_and_stop)
        try:
            train(plan, tmp_path / "stopped")
        except KeyboardInterrupt:
            assert (tmp_path / "stopped" / "last.safetensors").read_bytes() != whole, "it was stopped too late"
    assert train(plan, tmp_path / "stopped").read_bytes() == whole
