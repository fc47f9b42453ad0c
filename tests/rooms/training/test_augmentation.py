"""Augmentation: masks go with their images, and what comes from outside is void."""

from __future__ import annotations

from statistics import median

import pytest
import torch

from segstress.core import BadInput, stream
from segstress.data import Sample
from segstress.fitting.plan import read_training_plan
from segstress.training import Augmentation
from segstress.training.augmentation import _turn


def coded(height: int = 24, width: int = 24) -> Sample:
    """Every pixel's colour is its class, in blocks; one row is void."""
    blocks = torch.randint(0, 5, (height // 4, width // 4), generator=torch.Generator().manual_seed(2))
    labels = blocks.repeat_interleave(4, 0).repeat_interleave(4, 1)
    valid = torch.ones(height, width, dtype=torch.bool)
    valid[0] = False
    return Sample("coded", (labels / 4).expand(3, -1, -1).clone(), labels * valid, valid, source="")


def draw(sample: Sample, seed: int = 0, **settings: object) -> Sample:
    return Augmentation(**settings)(sample, stream(seed, sample.id, "augmentation-0"))


def test_nothing_by_default():
    sample = coded()
    assert draw(sample) is sample


@pytest.mark.parametrize(
    "settings",
    [{"mirror": 1.0}, {"scale": (2.0, 2.0)}, {"crop": 16}, {"crop": 40}, {"crop": (12, 40)}, {"turn": 180.0}],
)
@pytest.mark.parametrize("seed", range(4))
def test_labels_stay_with_their_pixels(settings, seed):
    made = draw(coded(), seed, **settings)
    assert made.valid.any()
    right = (made.image[0] * 4 - made.labels).abs() < 0.51  # the edges of blocks are blended by interpolation
    assert right[made.valid].float().mean() > 0.8
    assert not made.labels[~made.valid].any()
    assert made.image.shape[1:] == made.labels.shape == made.valid.shape
    assert 0 <= made.image.min() <= made.image.max() <= 1


def test_crop_of_a_small_image_is_padded_with_void():
    sample = coded(8, 8)
    made = draw(sample, crop=12)
    assert made.labels.shape == (12, 12)
    assert made.valid.sum() == sample.valid.sum()
    assert made.image[:, 2:10, 2:10].equal(sample.image)
    assert made.image[:, 0, 0].allclose(sample.image.mean((1, 2)))


def test_crops_reach_every_place():
    sample = coded(8, 8)
    seen = torch.zeros(8, 8, dtype=torch.bool)
    marked = torch.arange(64).view(8, 8)
    for seed in range(200):
        made = draw(Sample("coded", sample.image, marked, torch.ones(8, 8, dtype=torch.bool), ""), seed, crop=3)
        seen.view(-1)[made.labels.flatten()] = True
    assert seen.all()


def test_a_turn_by_half_a_circle_is_two_mirrors():
    sample = coded(12, 20)
    made = _turn(sample, torch.pi)
    assert made.labels.equal(sample.labels.flip(0, 1))
    assert made.image.allclose(sample.image.flip(1, 2), atol=1e-5)


def test_a_turn_by_a_right_angle_keeps_pixels_square():
    sample = coded(12, 20)
    made = _turn(sample, torch.pi / 2)
    middle = made.labels[:, 4:16]
    assert middle.equal(sample.labels[:, 4:16].rot90(1)) or middle.equal(sample.labels[:, 4:16].rot90(-1))
    assert not made.valid[:, :3].any()


def test_blur_softens_edges_and_keeps_flat_ground():
    flat, edges = torch.full((3, 8, 8), 0.3), coded()
    made = draw(Sample("flat", flat, edges.labels[:8, :8], edges.valid[:8, :8], ""), blur=1.0)
    assert made.image.allclose(flat, atol=1e-6)
    assert draw(edges, blur=1.0).image.diff(dim=2).abs().max() < edges.image.diff(dim=2).abs().max()


def test_factors_are_spread_evenly_or_by_their_logarithms():
    sample = coded(8, 8)
    sides = {
        spread: [draw(sample, seed, scale=(0.5, 8.0), spread=spread).labels.shape[0] for seed in range(300)]
        for spread in ("uniform", "log-uniform")
    }
    assert all(4 <= side <= 64 for side in sides["uniform"] + sides["log-uniform"])
    assert median(sides["uniform"]) == pytest.approx(8 * 4.25, abs=3)
    assert median(sides["log-uniform"]) == pytest.approx(8 * 2, abs=2)


@pytest.mark.parametrize("sides", [(24, 36), (36, 24), (8, 12)])
def test_factors_of_a_short_side_bring_images_of_all_sizes_to_it(sides):
    short, long = sorted(draw(coded(*sides), scale=(0.5, 0.5), short_side=32).labels.shape)
    assert (short, long) == (16, 24)
    assert min(draw(coded(*sides), short_side=32).labels.shape) == 32, "without factors too"


def test_around_a_small_image_lies_void_or_a_class():
    sample = coded(8, 8)
    made = draw(sample, crop=12, outside=3)
    around = torch.ones(12, 12, dtype=torch.bool)
    around[2:10, 2:10] = False
    assert made.valid[around].all()
    assert (made.labels[around] == 3).all()
    assert made.labels[2:10, 2:10].equal(sample.labels)
    assert made.valid[2:10, 2:10].equal(sample.valid)
    assert draw(sample, crop=12, outside=0).valid[around].all(), "class 0 is a class"
    assert not draw(sample, crop=12).valid[around].any()


def test_a_blur_of_a_given_deviation_is_the_same_for_all_images():
    sample = coded()
    weights = torch.tensor([-2.0, -1, 0, 1, 2]).square().div(-2 * 1.1**2).exp()
    weights /= weights.sum()
    blurred = [draw(sample, seed, blur=1.0, blur_sigma=1.1).image for seed in range(2)]
    assert blurred[0].equal(blurred[1])
    assert not draw(sample, 0, blur=1.0).image.equal(draw(sample, 1, blur=1.0).image)
    patch = sample.image[0, 8:13, 8:13]
    assert float(blurred[0][0, 10, 10]) == pytest.approx(float(weights @ patch @ weights), abs=1e-6)


def test_scale_must_be_a_range():
    with pytest.raises(BadInput, match="scale: expected two factors"):
        read_training_plan(None, {"augmentation": {"scale": [2.0, 0.5]}})


@pytest.mark.parametrize("name", ["blur", "mirror"])
@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_of_the_images_is_no_more_than_all(name: str, share: float) -> None:
    with pytest.raises(BadInput, match=name):
        read_training_plan("cnn-normal", {"augmentation": {name: share}})
