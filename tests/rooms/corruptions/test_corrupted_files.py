"""Corrupted tensors and files."""

import csv
import hashlib

import numpy as np
import pytest
import torch
from PIL import Image

import segstress
from segstress.core import BadInput, stream
from segstress.evaluation.corrupt import corrupts, export


@pytest.fixture
def images():
    return torch.rand((2, 3, 32, 40), generator=stream(0, "images", "pixels"))


def test_tensors_in_tensors_out(images):
    foggy = segstress.corrupt("fog", images, 2.5, seed=3)
    assert foggy.shape == images.shape
    assert torch.equal(foggy[1:], segstress.corrupt("fog", images[1:], 2.5, seed=3)), "ids come from the content"
    named = segstress.corrupt("fog", images, 2.5, seed=3, ids=["x", "x"])
    assert not torch.equal(named, foggy)
    boxed = segstress.corrupt("contrast", images, region="box?height=8&width=8")
    changed = (boxed != images).any(1)
    assert not changed[:, :12].any()
    assert changed[:, 12:20, 16:24].all()


def test_bad_tensors_are_refused(images):
    with pytest.raises(BadInput, match="divide 8-bit images by 255"):
        segstress.corrupt("fog", images * 255)
    with pytest.raises(BadInput, match="expected 2, one for each image, found 1"):
        segstress.corrupt("fog", images, ids=["x"])
    with pytest.raises(BadInput, match="severity"):
        segstress.corrupt("fog", images, 7)
    with pytest.raises(BadInput, match="'blur' is a suite"):
        segstress.corrupt("blur", images)
    with pytest.raises(BadInput, match="needs labels"):
        segstress.corrupt("fog", images, region="classes:1")


def test_export_writes_what_the_manifest_says(tmp_path):
    data = segstress.load_data("shapes:test")
    ids = data.ids()[:2]
    changes = corrupts(["gaussian_noise"], [1, 3], region="patches:0.5?size=32")
    done = export(data, ids, changes, tmp_path)
    rows = list(csv.DictReader(done.manifest.open()))
    assert (len(rows), done.images, done.errors) == (4, 4, ())
    for row in rows:
        assert hashlib.sha256((tmp_path / row["file"]).read_bytes()).hexdigest() == row["sha256"]
        inside = np.array(Image.open(tmp_path / row["region"])) > 0
        assert inside.mean() == pytest.approx(float(row["region_share"]), abs=1e-5)
        original = data.read(row["image"]).image.mul(255).round().byte().permute(1, 2, 0).numpy()
        corrupted = np.array(Image.open(tmp_path / row["file"]))
        assert np.array_equal(corrupted[~inside], original[~inside])
        assert (corrupted[inside] != original[inside]).any(-1).mean() > 0.9
