"""The contract over every registered target."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from segstress.core import Wanted, settings, targets
from segstress.testing import check_target


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """What a target must be told where its name alone is not enough; a new one is added here."""
    path = tmp_path_factory.mktemp("map") / "wanted.png"
    Image.fromarray((np.arange(144).reshape(12, 12) % 4).astype(np.uint8)).save(path)
    data = tmp_path_factory.mktemp("data")
    for folder in ("images", "masks"):
        (data / folder).mkdir()
        Image.fromarray((np.arange(144).reshape(12, 12) % 3).astype(np.uint8)).save(data / folder / "a.png")
    return {
        "class": "class:2",
        "map": f"map:{path}?ignore=3",
        "majority": f"majority:folder:{data}?classes=zero,one,two&ignore=255",
        "majority-smooth": f"majority-smooth:folder:{data}?classes=zero,one,two&ignore=255",
        "next-best": "next-best",
        "prediction": "prediction",
    }


@pytest.mark.parametrize("name", targets.names())
def test_contract(name, examples):
    check_target(examples.get(name, name))


@settings
class Shifted:
    """The label of the next image of the batch."""

    label = "the neighbour's labels"

    def wanted(self, batch, scene):
        return Wanted(batch.labels.roll(1, 0), torch.ones_like(batch.valid))


def test_planted_bug_turns_the_contract_red(register):
    with pytest.raises(AssertionError):
        check_target(register(targets, Shifted)())
