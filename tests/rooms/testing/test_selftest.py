"""The check of a device."""

from __future__ import annotations

import pytest
import torch

from segstress.testing import selftest
from segstress.testing.toys import toy_batch, toy_model, toys_on


def test_contracts_are_tried_and_a_fault_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (fine,) = selftest.check_contracts("cpu", ["pgd"])
    assert fine.fault == ""

    def broken(name: str) -> None:
        raise RuntimeError(f"{name}: no kernel\nfor this")

    monkeypatch.setattr(selftest, "check_attack", broken)
    (wrong,) = selftest.check_contracts("cpu", ["pgd"])
    assert wrong.fault == "RuntimeError: pgd: no kernel"


def test_parity_notices_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "MODELS", selftest.MODELS[:1])
    assert [outcome.fault for outcome in selftest.check_parity("cpu")] == [""] * 2
    given = iter([(torch.zeros(2), torch.zeros(2)), (torch.tensor([0.0, 1e-6]), torch.zeros(2))])
    monkeypatch.setattr(selftest, "_answers", lambda spec, device: next(given))
    faults = [outcome.fault for outcome in selftest.check_parity("cpu")]
    assert [bool(fault) for fault in faults] == [True, False]


def test_speed_is_told_for_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "SECONDS", 0.0)
    monkeypatch.setattr(selftest, "MODELS", selftest.MODELS[:1])
    speeds = list(selftest.measure("cpu", sizes=(1,)))
    assert len(speeds) == 2 * 2
    assert all(speed.images_per_second > 0 for speed in speeds)


def test_toys_follow_the_device() -> None:
    with toys_on("meta"):
        assert next(toy_model().parameters()).device.type == "meta"
    model = toy_model()
    assert toy_batch(model).images.device.type == next(model.parameters()).device.type == "cpu"
