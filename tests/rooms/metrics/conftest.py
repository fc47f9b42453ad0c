"""What the tests of this room share."""

from __future__ import annotations

import pytest
import torch
from toy_set import Toy, toy_set


@pytest.fixture
def toy() -> Toy:
    """Four tiny images with void, absent classes and a stray pixel."""
    return toy_set()


@pytest.fixture(scope="session")
def torchvision_imports() -> torch.library.Library:
    """Declare the operators without which a CUDA torchvision, and all who import it, fail beside a CPU torch."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library  # the declarations live as long as it does
