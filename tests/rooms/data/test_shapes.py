"""The made scenes: always the same, with the statistics that the compact networks are trained for."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
import torch

from segstress.core import BadImage, BadInput
from segstress.data import load
from segstress.data.scenes import CLASSES, USUAL, Appearance, Thing, covers, draw_scene, find_border


def random(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def test_made_data_never_change_silently() -> None:
    """Checkpoints and published figures rest on these scenes; a new hash means new ones."""
    image = load("shapes:test").read("test-00017").image
    pixels = (255 * image).round().to(torch.uint8).permute(1, 2, 0).contiguous().numpy()
    assert (
        hashlib.sha256(pixels.tobytes()).hexdigest()
        == "d4fe8a13619af767ca74adc73b31cdf9b6f339b9987fdb2f4a4da3df8355b564"
    )


def test_samples_are_images_with_labels() -> None:
    dataset = load("shapes:test?count=3&size=40x56")
    assert dataset.ids() == ["test-00000", "test-00001", "test-00002"]
    sample = dataset.read("test-00002")
    assert (sample.image.shape, sample.labels.shape) == ((3, 40, 56), (40, 56))
    assert torch.equal((255 * sample.image).round() / 255, sample.image)
    assert 0 <= sample.image.min() < sample.image.max() <= 1
    assert sample.valid.all()


def test_a_scene_depends_on_its_id_only() -> None:
    few, many = load("shapes:train?count=2"), load("shapes:train?count=9")
    assert torch.equal(few.read("train-00001").image, many.read("train-00001").image)
    assert few.read("train-00001").source == many.read("train-00001").source
    assert few.read("train-00000").source != few.read("train-00001").source
    assert few.fingerprint() != many.fingerprint()
    later = load("shapes:train?count=2&first=1")
    assert later.ids() == ["train-00001", "train-00002"]
    assert torch.equal(few.read("train-00001").image, later.read("train-00001").image)
    assert few.read("train-00001").source == later.read("train-00001").source


def test_splits_share_no_scene() -> None:
    scenes = [load(f"shapes:{split}?count=5") for split in ("train", "val", "test", "pool", "holdout", "final")]
    images = {dataset.read(id).image.numpy().tobytes() for dataset in scenes for id in dataset.ids()}
    assert len(images) == 30


def test_holdout_is_labelled_and_drawn_as_the_test_split_is() -> None:
    for split, first in (("test", 30_000_000), ("holdout", 50_000_000), ("final", 60_000_000)):
        sample = load(f"shapes:{split}").read(f"{split}-00003")
        image, labels = draw_scene(random(first + 3), (96, 96), USUAL, grain=0.024)
        assert np.array_equal((255 * sample.image).round().byte().permute(1, 2, 0).numpy(), image)
        assert np.array_equal(sample.labels.numpy(), labels)
        assert sample.valid.all()


def test_class_shares_are_those_of_the_study() -> None:
    dataset = load("shapes:val?count=300")
    labels = torch.stack([dataset.read(id).labels for id in dataset.ids()])
    shares = torch.bincount(labels.flatten(), minlength=7) / labels.numel()
    assert shares[0] == pytest.approx(0.53, abs=0.04)
    assert shares[1:].min() > 0.05
    assert shares[1:].max() < 0.11


def test_density_of_objects_does_not_depend_on_the_size() -> None:
    small, large = load("shapes:val?count=100"), load("shapes:val?count=12&size=288")
    share = [
        torch.stack([dataset.read(id).labels == 0 for id in dataset.ids()]).float().mean() for dataset in (small, large)
    ]
    assert share[0] == pytest.approx(share[1].item(), abs=0.06)


@pytest.mark.parametrize(
    ("kind", "area"),
    [
        ("disc", math.pi),
        ("square", 4 * 0.89**2),
        ("triangle", 3 * math.sqrt(3) * 0.62**2),
        ("cross", 4 * 0.36 * (2 * 1.05 - 0.36)),
        ("ring", math.pi * (1.05**2 - 0.55**2)),
        ("striped", math.pi),
        ("background", 4 * 0.15),
    ],
)
def test_shapes_have_their_area_however_they_are_turned(kind: str, area: float) -> None:
    y, x = np.mgrid[-150:150, -150:150] + 0.5
    for turn in (0.0, 0.5, 2.0):
        thing = Thing(CLASSES.index(kind), diameter=200.0, row=0.0, column=0.0, turn=turn, colour=np.zeros(3))
        assert covers(thing, x, y).sum() / 100**2 == pytest.approx(area, rel=0.02)


def test_grain_lies_at_the_angle_of_its_class_and_below_eps() -> None:
    still = Appearance(relief=0.0, lighting=0.0, noise=0.0)
    with_grain, labels = draw_scene(random(3), (96, 96), still, grain=0.024)
    without, same = draw_scene(random(3), (96, 96), still, grain=0.0)
    grain = with_grain.astype(int) - without
    assert np.array_equal(labels, same)
    assert not grain[labels == 0].any()
    assert 6 <= abs(grain).max() <= 7  # of 255; one more than 6.1 by rounding twice
    y, x = np.mgrid[:96, :96]
    for kind in np.unique(labels[labels > 0]):
        inside = labels == kind
        power = [
            abs((grain[..., 0] * np.exp(2j * np.pi / 3 * (np.cos(a) * x + np.sin(a) * y)))[inside].sum())
            for a in np.arange(1, 7) * np.pi / 6
        ]
        assert np.argmax(power) == kind - 1


def test_small_objects_lie_in_front_of_large_ones() -> None:
    """The other way round, large objects hide most small ones: outlines fill 0.15 of the scene, not 0.28."""
    crowded = Appearance(objects=(30, 30), diameter=(8, 90))
    scenes = [draw_scene(random(seed), (96, 96), crowded, grain=0.0)[1] for seed in range(8)]
    assert np.mean([find_border(labels, 1) for labels in scenes]) > 0.22


def test_border_is_void_on_both_sides_of_an_outline() -> None:
    labels = np.zeros((5, 8), dtype=np.int64)
    labels[:, 4:] = 2
    assert find_border(labels, 1)[0].tolist() == [False] * 3 + [True] * 2 + [False] * 3
    assert find_border(labels, 2)[0].tolist() == [False] * 2 + [True] * 4 + [False] * 2
    plain, bordered = load("shapes:test"), load("shapes:test?border=1")
    before, after = plain.read("test-00000"), bordered.read("test-00000")
    assert torch.equal(before.image, after.image)
    assert torch.equal(before.labels[after.valid], after.labels[after.valid])
    assert 0.02 < (~after.valid).float().mean() < 0.4
    assert not after.labels[~after.valid].any()
    assert (plain.void, bordered.void) == ("none", "1px border")


def test_pool_is_unlabelled_but_its_masks_are_known() -> None:
    pool, known = load("shapes:pool?count=4"), load("shapes:pool?count=4&labelled=true")
    assert not any(pool.read(id).valid.any() for id in pool.ids())
    assert all(known.read(id).valid.all() and known.read(id).labels.any() for id in known.ids())
    assert torch.equal(pool.read("pool-00001").image, known.read("pool-00001").image)


def test_pool_is_shifted() -> None:
    spread = {}
    for split in ("test", "pool"):
        dataset = load(f"shapes:{split}?count=30")
        spread[split] = torch.stack([dataset.read(id).image.mean((1, 2)) for id in dataset.ids()]).std()
    assert spread["pool"] > 1.5 * spread["test"]


@pytest.mark.parametrize("query", ["count=0", "first=-1", "size=4", "size=96x", "grain=-1", "border=-1"])
def test_impossible_settings_are_refused(query: str) -> None:
    with pytest.raises(BadInput, match=r"greater than or equal|such as 96 or 96x128"):
        load(f"shapes:test?{query}")


@pytest.mark.parametrize("id", ["train-00001", "test-x", "00001"])
def test_foreign_id_is_refused(id: str) -> None:
    with pytest.raises(BadImage, match=f"has no image '{id}'"):
        load("shapes:test").read(id)
