"""Localized damage in training: boxes and nothing else, and masks go with what is pasted."""

from __future__ import annotations

import pytest
import torch

from segstress.core import BadInput, stream
from segstress.data import Sample, load
from segstress.fitting.plan import read_training_plan
from segstress.fitting.train import train
from segstress.training import Augmentation
from segstress.training.batches import Reader
from segstress.training.patches import CutMix, PatchDamage, draw_box

SCENES = "shapes:train?count=6&size=32"


def scene(number: int = 0) -> Sample:
    data = load(SCENES)
    return data.read(data.ids()[number])


def changed(made: Sample, before: Sample) -> torch.Tensor:
    return (made.image != before.image).any(0)


def test_only_a_box_is_corrupted():
    before = scene()
    patch = PatchDamage(share=1.0, corruptions=("gaussian_noise",), severity=(5.0, 5.0), sides=(0.25, 0.5))
    for seed in range(5):
        made = patch(before, stream(seed, before.id, "patch"))
        rows, columns = changed(made, before).nonzero(as_tuple=True)
        assert all(8 - 2 <= part.max() - part.min() + 1 <= 16 for part in (rows, columns))
        assert made.labels.equal(before.labels)
        box = changed(made, before)[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert box.float().mean() > 0.9


def test_a_share_of_the_images_is_corrupted_and_all_corruptions_come():
    before, patch = scene(), PatchDamage(share=0.5, corruptions=("brightness", "gaussian_noise"), severity=(3.0, 3.0))
    made = [patch(before, stream(seed, before.id, "patch")) for seed in range(60)]
    touched = [sample for sample in made if changed(sample, before).any()]
    assert 15 < len(touched) < 45
    grey = [(sample.image - before.image)[:, changed(sample, before)].std() for sample in touched]
    assert min(grey) < 0.1 < max(grey)  # brightness moves pixels alike, noise does not


def test_boxes_reach_every_pixel_and_keep_their_sides():
    labels, seen = torch.zeros(10, 20), torch.zeros(10, 20)
    for seed in range(200):
        box = draw_box(labels, (0.2, 0.5), stream(seed, "", "box"))
        rows, columns = box.nonzero(as_tuple=True)
        assert 2 <= len(rows.unique()) <= 5
        assert 4 <= len(columns.unique()) <= 10
        assert box.sum() == len(rows.unique()) * len(columns.unique())
        seen += box
    assert seen.all()


def test_what_is_mixed_in_brings_its_mask():
    first, second = scene(0), scene(1)
    made = CutMix()(first, second, stream(3, first.id, "cutmix"))
    taken = made.labels != first.labels
    assert taken.any()
    assert made.labels[taken].equal(second.labels[taken])
    inside = changed(made, first)
    assert made.image[:, inside].equal(second.image[:, inside])
    assert (made.image == second.image).all(0)[taken].all()
    with pytest.raises(BadInput, match="cutmix: expected images of one size"):
        CutMix()(first, load("shapes:train?count=1&size=24").read("train-00000"), stream(3, "", ""))


def test_a_reader_mixes_images_of_its_own_alike_in_every_run():
    plain = Reader(load(SCENES), Augmentation(), 0)
    mixing = Augmentation(cutmix=CutMix(share=1.0))
    (first,), (again,) = (next(Reader(load(SCENES), mixing, 0).steps(1, 6, 1)) for _ in range(2))
    assert first.images.equal(again.images)
    (before,) = next(plain.steps(1, 6, 1))
    assert before.ids == first.ids
    assert (before.images != first.images).flatten(1).any(1).sum() >= 4  # an image may meet itself
    never = Reader(load(SCENES), Augmentation(cutmix=CutMix(share=0.0)), 0)
    assert next(never.steps(1, 6, 1))[0].images.equal(before.images)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"corruptions": ["gausian_noise"]}, "did you mean 'gaussian_noise'"),
        ({"severity": [4, 2]}, "severity: expected two numbers"),
        ({"sides": [0.5, 0.2]}, "sides: expected two numbers"),
    ],
)
def test_a_patch_that_cannot_be_is_refused(patch, said):
    with pytest.raises(BadInput, match=said):
        read_training_plan(None, {"augmentation": {"patch": patch}})


def test_a_network_trains_on_them(quick, tmp_path):
    augmentation = {"crop": 16, "patch": {"corruptions": ["noise", "local"]}, "cutmix": {"share": 0.5}}
    assert train(quick(augmentation=augmentation, epochs=1, recipe="normal"), tmp_path).is_file()
