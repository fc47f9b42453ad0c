"""What every region must keep; `check_region` is public, for authors of plug-ins."""

from __future__ import annotations

from dataclasses import replace

import torch

from ..core import Batch, Region, Spec, regions
from .settings import check_settings
from .toys import toy_batch, toy_model


def check_region(region: Region | Spec, batch: Batch | None = None) -> None:
    """Run every check, one after the other; a region that looks things up by image id needs a batch that it knows."""
    built = region if isinstance(region, Region) else regions.build(region)
    shown = toy_batch(toy_model()) if batch is None else batch
    check_settings(regions, built)
    for check in REGION_CHECKS:
        check(built, shown)


def check_is_a_mask(region: Region, batch: Batch) -> None:
    """Check that it is one truth value a pixel, for some pixels of some image and not for all of every image."""
    mask = region.mask(batch, 0)
    assert mask.dtype == torch.bool, f"{mask.dtype} instead of bool"
    assert mask.shape == batch.labels.shape, f"a shape of {tuple(mask.shape)}, the labels' is {batch.labels.shape}"
    assert mask.any(), "no pixel of any image belongs to it"


def check_is_the_same_for_every_model(region: Region, batch: Batch) -> None:
    """Check that what the image shows does not matter, since models are compared on the same region."""
    other = replace(batch, images=1 - batch.images)
    assert torch.equal(region.mask(batch, 5), region.mask(other, 5)), "another image under the same id changed it"


def check_depends_on_seed_and_id(region: Region, batch: Batch) -> None:
    """Check that the same seed and id give the same mask, alone or in a batch and in any order."""
    mask = region.mask(batch, 5)
    assert torch.equal(mask, region.mask(batch, 5)), "two masks with one seed differ"
    order = list(range(len(batch)))[::-1]
    assert torch.equal(mask[order], region.mask(batch.pick(order), 5)), "the order of the batch changed it"
    for index in range(len(batch)):
        assert torch.equal(mask[index], region.mask(batch.pick([index]), 5)[0]), f"image {index} alone differs"


REGION_CHECKS = (check_is_a_mask, check_is_the_same_for_every_model, check_depends_on_seed_and_id)
