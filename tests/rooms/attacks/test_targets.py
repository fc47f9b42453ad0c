"""What targeted attacks want: maps from files, the majority of a split, another image's prediction."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tests.conftest import write_folder
from torch import nn

from segstress.core import BadImage, BadInput, Batch, Scene, Threat, aimed, targets, to_plain
from segstress.core.fingerprints import fingerprints
from segstress.data import load

PLACES = ("here", "there", "other")


@pytest.fixture
def batch():
    labels = torch.zeros((2, 4, 6), dtype=torch.int64)
    return Batch(("one", "two"), torch.rand(2, 3, 4, 6), labels, labels == 0)


class Brightness(nn.Module):
    """Sees the class in a pixel's red channel."""

    def forward(self, images):
        return torch.stack([-(10 * images[:, 0] - klass).square() for klass in range(5)], 1)


def test_the_map_of_a_release_becomes_a_target_as_the_docs_say(tmp_path, monkeypatch):
    text = (Path(__file__).parents[3] / "docs" / "reproduce.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    drawn = np.full((1024, 2048), 7, np.uint8)  # road, which is class 0
    drawn[:10], drawn[10:20] = 26, 1  # cars; the hood of one's own, which wants nothing
    save(tmp_path / "manual_smooth_majority_label.png", drawn)
    exec(compile(textwrap.dedent(code), "docs/reproduce.md", "exec"), {})
    labels = torch.zeros((1, 1024, 2048), dtype=torch.int64)
    batch = Batch(("one",), torch.rand(1, 3, 1024, 2048), labels, labels == 0)
    goal, counted = wanted("map:wanted.png?ignore=255", batch)
    assert goal[0, :10].unique().tolist() == [13]
    assert goal[0, 20:].unique().tolist() == [0]
    assert counted[0, 10:20].any().item() is False
    assert counted[0, 20:].all()


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels, np.uint8)).save(path)


def wanted(spec, batch, **scene):
    return targets.build(spec).wanted(batch, Scene(Brightness(), **scene))


def test_a_number_is_a_class_and_none_is_none():
    assert (
        Threat(target=3) == Threat(target="3") == Threat(target="class:3") == Threat(target={"kind": "class", "id": 3})
    )
    assert str(Threat(radius="8/255", target=3)) == "linf 8/255 to class 3"
    assert to_plain(Threat())["target"] is None
    for wrong in (-1, "-1", "clas:1"):
        with pytest.raises(ValueError, match="target"):
            Threat(target=wrong)


def test_one_map_serves_every_image_and_ignored_pixels_want_nothing(batch, tmp_path):
    pixels = np.arange(24).reshape(4, 6) % 5
    pixels[1, 2] = 255
    save(tmp_path / "map.png", pixels)
    labels, valid = wanted(f"map:{tmp_path / 'map.png'}?ignore=255", batch)
    assert not valid[:, 1, 2].any()
    assert int(valid.sum()) == 2 * 23
    for each in labels:
        assert np.array_equal(each, np.where(pixels == 255, 0, pixels))


def test_a_folder_has_a_map_for_each_image(batch, tmp_path):
    for number, id_ in enumerate(batch.ids):
        save(tmp_path / f"{id_}.png", np.full((4, 6), number + 1))
    labels, valid = wanted(f"map:{tmp_path}", batch)
    assert (labels[0] == 1).all()
    assert (labels[1] == 2).all()
    assert valid.all()


def test_maps_that_are_missing_ill_sized_or_of_other_classes_are_named(batch, tmp_path):
    with pytest.raises(BadInput, match="does not exist"):
        targets.build(f"map:{tmp_path / 'nowhere.png'}").fingerprint()
    save(tmp_path / "one.png", np.zeros((4, 6)))
    with pytest.raises(BadImage, match=r"two\.png is missing"):
        wanted(f"map:{tmp_path}", batch)
    save(tmp_path / "two.png", np.zeros((4, 5)))
    with pytest.raises(BadImage, match=r"expected 4x6 .* found 4x5"):
        wanted(f"map:{tmp_path}", batch)
    save(tmp_path / "two.png", np.full((4, 6), 7))
    with pytest.raises(BadImage, match="ids of 5 classes, found 7"):
        aimed(batch, targets.build(f"map:{tmp_path}"), Scene(Brightness(), classes=5))


def test_the_fingerprint_is_of_the_content_and_not_of_the_place(batch, tmp_path):
    for place, value in zip(PLACES, (1, 1, 2), strict=True):
        save(tmp_path / place / "map.png", np.full((4, 6), value))
    for end in ("", "/map.png"):
        here, there, other = (fingerprints(targets.build(f"map:{tmp_path / place}{end}")) for place in PLACES)
        assert here == there != other


@pytest.fixture
def split(tmp_path):
    """Three images whose labels are known, with a tie, a void pixel and a lone vote beside void."""
    root = write_folder(tmp_path / "split", [(4, 6)] * 3)
    masks = np.array([np.full((4, 6), klass) for klass in (3, 1, 1)])
    masks[:, 0, 0] = 3, 2, 2  # the majority is the smaller id
    masks[:, 0, 1] = 1, 6, 6  # and the larger
    masks[:, 0, 2] = 5, 4, 255  # a tie
    masks[:, 0, 3] = 255
    masks[:, 0, 4] = 6, 255, 255
    for number, mask in enumerate(masks):
        save(root / "masks" / f"scene-{number}.png", mask)
    return root


def test_majority_counts_votes_ties_go_to_the_smaller_id_and_void_votes_as_void(batch, split):
    labels, valid = wanted(f"majority:folder:{split}?classes=7&ignore=255", batch)
    assert labels.shape == batch.labels.shape
    assert labels[1, 0].tolist() == [2, 6, 4, 0, 0, 1]
    assert valid[1, 0].tolist() == [True, True, True, False, False, True]
    assert (labels[:, 1:] == 1).all()


def test_a_smoothed_majority_is_what_most_of_the_neighbourhood_wants(batch, split):
    data = f"folder:{split}?classes=7&ignore=255"
    labels, valid = wanted({"kind": "majority", "data": data, "smooth": 3}, batch)
    assert valid.all(), "two void pixels beside each other are outvoted"
    assert (labels == 1).all()
    assert targets.build(f"majority-smooth:{data}").smooth == 33, (
        "on the command line, where all after the colon is data"
    )


def test_majority_depends_on_the_labels_and_their_size(batch, split):
    spec = f"majority:folder:{split}?classes=7&ignore=255"
    before = fingerprints(targets.build(spec))
    with pytest.raises(BadImage, match=r"expected 4x6 .* found 2x3; set its resize"):
        wanted(f"{spec}&resize=2x3", batch)
    write_folder(split, [(4, 6), (5, 6), (4, 6)])
    with pytest.raises(BadInput, match="differ in size"):
        wanted(spec, batch)
    assert fingerprints(targets.build(spec)) != before
    with pytest.raises(BadInput, match="no valid pixel"):
        wanted("majority:shapes:pool?count=2&size=16", batch)


def test_prediction_of_the_next_image_and_of_a_named_one(batch):
    ids = ("one", "two", "three")
    pixels = {id_: torch.full((3, 4, 6), (number + 1) / 10) for number, id_ in enumerate(ids)}
    scene = {"ids": ids, "read": pixels.__getitem__}
    assert wanted("prediction", batch, **scene).labels[:, 0, 0].tolist() == [2, 3]
    last = Batch(("three",), batch.images[:1], batch.labels[:1], batch.valid[:1])
    assert (wanted("prediction", last, **scene).labels == 1).all()
    assert wanted("prediction:two", batch, **scene).labels[:, 0, 0].tolist() == [2, 3]  # not the image itself
    assert wanted("prediction:three", batch, **scene).valid.all()


def test_prediction_of_nothing_or_of_another_size_is_refused(batch):
    with pytest.raises(BadInput, match="no other"):
        wanted("prediction", batch)
    scene = {"ids": ("one", "two"), "read": lambda id_: torch.zeros(3, 5, 6)}
    with pytest.raises(BadInput, match="no image 'ten'"):
        wanted("prediction:ten", batch, **scene)
    with pytest.raises(BadImage, match="expected an image of 4x6, found 5x6"):
        wanted("prediction", batch, **scene)


def test_majority_of_shapes_is_the_same_everywhere():
    data = load("shapes:train?count=9&size=16")
    sample = data.read(data.ids()[0])
    batch = Batch(("x",), sample.image[None], sample.labels[None], sample.valid[None])
    votes = torch.stack([nn.functional.one_hot(data.read(id_).labels, 7) for id_ in data.ids()]).sum(0)
    labels = wanted("majority:shapes:train?count=9&size=16", batch).labels[0]
    assert torch.equal(votes.gather(2, labels[..., None])[..., 0], votes.amax(2))
