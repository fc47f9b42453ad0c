"""Regions made of rectangles."""

import pytest
import torch

from segstress.core import BadInput, Batch, regions


@pytest.fixture
def batch():
    labels = torch.zeros((3, 100, 130), dtype=torch.int64)
    return Batch(("a", "b", "c"), torch.zeros(3, 3, 100, 130), labels, labels == 0)


@pytest.mark.parametrize(("ratio", "patches"), [(0, 0), (0.01, 1), (0.5, 10), (1, 20)])
def test_exact_patches_are_counted_on_a_grid_that_covers_the_image(batch, ratio, patches):
    region = regions.build(f"patches:{ratio}?size=32")  # 4 x 5 patches, the last row and column cut
    assert [len(found) for found in region.boxes(batch, 0)] == [patches] * 3
    if ratio == 1:
        assert region.mask(batch, 0).all()


def test_bernoulli_patches_differ_in_number_and_average_to_the_ratio(batch):
    region = regions.build("patches:0.3?size=4&mode=bernoulli")
    shares = region.mask(batch, 0).float().mean((1, 2))
    assert len(set(shares.tolist())) == 3
    assert shares.mean() == pytest.approx(0.3, abs=0.03)


def test_several_draws_are_several_masks(batch):
    one, two = (regions.build(f"patches:0.5?size=16&draw={draw}").mask(batch, 0) for draw in (0, 1))
    assert not torch.equal(one, two)


@pytest.mark.parametrize("spec", ["patches:0.5?size=500", "box?height=500&width=500", "boxes:2?height=500&width=500"])
def test_larger_than_the_image_is_cut(batch, spec):
    assert regions.build(spec).mask(batch, 0).all()


def test_a_given_rectangle_and_random_boxes(batch):
    given = regions.build("rectangle?top=90&left=10&height=20&width=5").mask(batch, 0)
    assert given[0].nonzero().amin(0).tolist() == [90, 10]
    assert int(given[0].sum()) == 10 * 5
    boxes = regions.build("boxes:3?height=10&width=12")
    assert all(rows.stop - rows.start == 10 for found in boxes.boxes(batch, 0) for rows, _ in found)
    assert not torch.equal(*boxes.mask(batch, 0)[:2])


@pytest.mark.parametrize("spec", ["patches:1.5", "patches:0.5?size=0", "box?height=0", "boxes:0"])
def test_impossible_regions_are_refused(spec):
    with pytest.raises(BadInput, match="region"):
        regions.build(spec)
