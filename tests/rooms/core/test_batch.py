"""A batch on its way to a device; no GPU is needed, so a fake takes what one would be sent."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from segstress.core import Batch


@pytest.fixture
def batch() -> Batch:
    labels = torch.zeros(1, 2, 2, dtype=torch.int64)
    return Batch(("a",), torch.rand(1, 3, 2, 2), labels, labels == 0, goal=labels, goal_valid=labels == 0)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, bool]]:
    """Every copy between devices: to where, from pinned memory, without waiting."""
    seen: list[tuple[str, bool, bool]] = []
    pinned: list[int] = []
    copy = Tensor.to

    def to(self: Tensor, *given: object, non_blocking: bool = False) -> Tensor:
        if isinstance(given[0], str) and given[0] != "cpu":
            seen.append((given[0], id(self) in pinned, non_blocking))
            return self
        return copy(self, *given)

    def pin_memory(self: Tensor) -> Tensor:
        pinned.append(id(self))
        return self

    monkeypatch.setattr(Tensor, "to", to)
    monkeypatch.setattr(Tensor, "pin_memory", pin_memory)
    return seen


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_a_gpu_fetches_every_tensor_from_pinned_memory_while_the_host_goes_on(batch: Batch, sent, device: str) -> None:
    moved = batch.to(device, torch.float64)
    assert sent == 5 * [(device, True, True)]
    assert moved.images.dtype == torch.float64


def test_other_devices_are_sent_plain_copies(batch: Batch, sent) -> None:
    assert batch.to("cpu").images is batch.images
    batch.to("mps")
    assert sent == 5 * [("mps", False, False)]
