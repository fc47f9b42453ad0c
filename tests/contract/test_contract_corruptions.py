"""The contract over every registered corruption."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import torch
from PIL import Image

from segstress.core import settings
from segstress.corruptions import Corruption, corruptions
from segstress.testing.corruptions import CORRUPTION_CHECKS, check_corruption

OWN = corruptions.names()


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """What a corruption must be told where its name alone is not enough; a new one is added here."""
    folder = tmp_path_factory.mktemp("frost")
    pixels = np.random.default_rng(0).integers(256, size=(48, 64, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "frost.png")
    return {"frost": {"kind": "frost", "photographs": str(folder)}}


@pytest.mark.parametrize("check", CORRUPTION_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", OWN)
def test_contract(name, check, examples):
    check(corruptions.build(examples.get(name, name)))


@settings
class DrawsForTheBatch(Corruption):
    """Noise whose draws depend on how many images there are."""

    levels: ClassVar = ((0.1,), (0.2,), (0.3,), (0.4,), (0.5,))

    def degrade(self, images, level, draws):
        noise = torch.rand(images.shape, generator=torch.Generator().manual_seed(0))
        return images + level[0] * noise.flip(0)


@settings
class InPlace(Corruption):
    """Darkens the images that it was given."""

    levels: ClassVar = ((0.9,), (0.8,), (0.7,), (0.6,), (0.5,))

    def degrade(self, images, level, draws):
        return images.mul_(level[0])


@pytest.mark.parametrize("planted", [DrawsForTheBatch, InPlace], ids=lambda planted: planted.__name__)
def test_planted_bug_turns_the_contract_red(planted, register):
    with pytest.raises(AssertionError):
        check_corruption(register(corruptions, planted)())
