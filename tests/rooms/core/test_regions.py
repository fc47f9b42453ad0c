"""Regions: the same mask for every model, the right number of patches, borders cut."""

from __future__ import annotations

import pytest
import torch

from segstress.core import Batch, regions


def batch_of(ids, height=40, width=56):
    labels = torch.arange(len(ids) * height * width).view(len(ids), height, width) % 5
    valid = torch.ones_like(labels, dtype=torch.bool)
    valid[:, 0] = False
    return Batch(tuple(ids), torch.rand(len(ids), 3, height, width), labels.masked_fill(~valid, 0), valid)


def test_exact_patches_have_the_same_number_in_every_image():
    mask = regions.build("patches:0.25?size=8").mask(batch_of("abc"), seed=0)
    assert mask.flatten(1).sum(1).tolist() == [9 * 64] * 3  # 5 x 7 patches, a quarter of them
    assert not torch.equal(mask[0], mask[1])


def test_a_mask_depends_on_seed_and_id_only():
    rule = regions.build("patches:0.5?size=8")
    together, alone = rule.mask(batch_of("abc"), 3), rule.mask(batch_of("c"), 3)
    assert torch.equal(together[2], alone[0])
    assert not torch.equal(rule.mask(batch_of("c"), 4), alone)


def test_bernoulli_patches_differ_in_number_and_mean_the_ratio():
    mask = regions.build("patches:0.3?size=8&mode=bernoulli").mask(batch_of([str(n) for n in range(200)]), 0)
    numbers = mask[:, ::8, ::8].flatten(1).sum(1)
    assert len(numbers.unique()) > 3
    assert float(numbers.double().mean()) / 35 == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(("ratio", "share"), [(0, 0.0), (1, 1.0)])
def test_ends_of_the_ratio(ratio, share):
    assert float(regions.build(f"patches:{ratio}?size=16").mask(batch_of("a"), 0).double().mean()) == share


@pytest.mark.parametrize(
    ("position", "rows", "columns"),
    [("centre", (15, 25), (18, 38)), ("top-left", (0, 10), (0, 20)), ("bottom-right", (30, 40), (36, 56))],
)
def test_box_lies_where_it_is_said_to(position, rows, columns):
    mask = regions.build(f"box:{position}?height=10&width=20").mask(batch_of("a"), 0)[0]
    expected = torch.zeros(40, 56, dtype=torch.bool)
    expected[slice(*rows), slice(*columns)] = True
    assert torch.equal(mask, expected)


def test_box_larger_than_the_image_covers_it():
    assert regions.build("box?height=999&width=999").mask(batch_of("a"), 0).all()


def test_class_region_leaves_void_out():
    batch = batch_of("a")
    mask = regions.build("classes?classes=0,2").mask(batch, 0)
    assert torch.equal(mask, ((batch.labels == 0) | (batch.labels == 2)) & batch.valid)
    assert not mask[:, 0].any()
