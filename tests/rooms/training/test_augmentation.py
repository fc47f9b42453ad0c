"""Augmentation: masks go with their images, and what comes from outside is void."""

from __future__ import annotations

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


def test_scale_must_be_a_range():
    with pytest.raises(BadInput, match="scale: expected two factors"):
        read_training_plan(None, {"augmentation": {"scale": [2.0, 0.5]}})
