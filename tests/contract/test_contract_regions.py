"""The contract over every registered region."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from segstress.core import regions, settings
from segstress.testing import check_region, toy_batch, toy_model


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """What a region must be told where its name alone is not enough; a new one is added here."""
    folder = tmp_path_factory.mktemp("masks")
    for number, id_ in enumerate(toy_batch(toy_model()).ids):
        Image.fromarray(np.eye(12, k=number, dtype=np.uint8)).save(folder / f"{id_}.png")
    return {
        "box": "box?height=6&width=6",
        "boxes": "boxes?count=2",
        "classes": "classes:1",
        "masks": f"masks:{folder}",
        "patches": "patches:0.5?size=4",
        "rectangle": {"kind": "rectangle", "top": 2, "left": 3, "height": 4, "width": 5},
    }


@pytest.mark.parametrize("name", regions.names())
def test_contract(name, examples):
    check_region(examples.get(name, name))


@settings
class Bright:
    """Bright pixels: not the same for a model that sees the perturbed image."""

    def mask(self, batch, seed):
        return batch.images.mean(1) > 0.5


@settings
class Drawn:
    """Pixels drawn for the whole batch at once."""

    def mask(self, batch, seed):
        return torch.rand(batch.labels.shape, generator=torch.Generator().manual_seed(seed)) < 0.5


@pytest.mark.parametrize("planted", [Bright, Drawn], ids=lambda planted: planted.__name__)
def test_planted_bug_turns_the_contract_red(planted, register):
    with pytest.raises(AssertionError):
        check_region(register(regions, planted)())
