"""What a competition takes for the truth of an image."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from segstress.competition.vocabulary import Vocabulary
from segstress.contests.images import ContestImages, quality
from segstress.data import Sample
from segstress.data.resizing import Resize


def images_of(sample: Sample) -> ContestImages:
    """A competition on one image of a pool with two classes."""
    part = SimpleNamespace(images=(sample.id,), names=(sample.id,))
    data = SimpleNamespace(read=lambda name: sample, resize=Resize(), classes=("sky", "sea"))
    store: Any = SimpleNamespace(parts=lambda: [part])
    contest: Any = SimpleNamespace(data=lambda: data)
    return ContestImages(store, contest, (), Vocabulary(("sky", "sea")))


def test_a_void_pixel_of_the_pools_mask_is_no_class() -> None:
    labels = torch.tensor([[1, 1, 0, 0]])
    sample = Sample("one", torch.zeros(3, 1, 4), labels, torch.tensor([[True, True, True, False]]), "")
    found = images_of(sample)
    mask = found.mask("one")
    assert mask is not None
    assert mask.tolist() == [[1, 1, 0, 255]]
    assert quality(mask, np.array([[1, 1, 0, 1]], dtype=np.uint8), found.vocabulary) == 1, "void is nobody's mistake"
