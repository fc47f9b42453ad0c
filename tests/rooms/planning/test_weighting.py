"""Class weights from a training split: counted once, passed by a plan as its spec."""

from __future__ import annotations

import pytest
import torch

from segstress.core import BadInput
from segstress.data import load
from segstress.planning.perturbing import read_perturbation
from segstress.planning.weighting import class_weights


def test_weights_are_one_over_the_pixels_of_each_class(folder):
    _, spec = folder
    data = load(spec)
    pixels = torch.zeros(7)
    for id_ in data.ids():
        sample = data.read(id_)
        for class_ in range(7):
            pixels[class_] += ((sample.labels == class_) & sample.valid).sum()
    expected = (1 / pixels) / (1 / pixels).sum()
    assert class_weights(spec) == pytest.approx(expected.tolist(), rel=1e-5)


def test_a_plan_names_the_split_or_the_numbers(folder):
    _, spec = folder
    named = read_perturbation({"attack": "sea-mce-bal", "weights": spec}, {"eps": "8/255"})
    given = read_perturbation({"attack": "sea-mce-bal", "weights": list(class_weights(spec))}, {"eps": "8/255"})
    assert named == given
    assert named.label.startswith("sea-mce-bal weighted")


def test_a_split_without_labels_is_refused(tmp_path):
    from PIL import Image

    for place in ("images", "masks"):
        (tmp_path / place).mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "images" / "a.png")
    Image.new("L", (8, 8), 255).save(tmp_path / "masks" / "a.png")
    with pytest.raises(BadInput, match="expected a labelled dataset"):
        class_weights(f"folder:{tmp_path}?classes=7&ignore=255")
