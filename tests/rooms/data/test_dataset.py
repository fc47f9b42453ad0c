"""What every dataset promises: settings that survive, names and colours for every class, a hash of content."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from segstress.core import BadInput, digest
from segstress.data import datasets, load

FOLDER = "folder:{}?classes=3&ignore=255"


@pytest.mark.parametrize("name", datasets.names())
def test_settings_survive_json_and_pickle(name: str) -> None:
    rest = "test" if name == "shapes" else "anywhere?masks=none" if name == "folder" else "anywhere"
    dataset = datasets.build(f"{name}:{rest}")
    assert datasets.build(json.loads(json.dumps(datasets.spec(dataset)))) == dataset
    assert pickle.loads(pickle.dumps(dataset)) == dataset


@pytest.mark.parametrize("name", [name for name in datasets.names() if name != "folder"])
def test_classes_have_names_and_colours(name: str) -> None:
    dataset = datasets.build(f"{name}:{'test' if name == 'shapes' else 'anywhere'}")
    assert len(set(dataset.classes)) == len(dataset.classes) == len(set(dataset.palette))
    assert dataset.background is None or 0 <= dataset.background < len(dataset.classes)
    assert dataset.void


def test_settings_survive_after_use(labelled_folder: Path) -> None:
    dataset = load(FOLDER.format(labelled_folder))
    assert pickle.loads(pickle.dumps(dataset)).ids() == dataset.ids()
    assert datasets.build(datasets.spec(dataset)) == dataset


def test_made_palettes_tell_150_classes_apart() -> None:
    palette = datasets.build("folder:anywhere?classes=150&ignore=none").palette
    assert len(set(palette)) == 150
    assert all(0 <= part <= 255 for colour in palette for part in colour)


def test_label_names_the_resize_rule(labelled_folder: Path) -> None:
    assert load(FOLDER.format(labelled_folder)).label == labelled_folder.name
    assert load(FOLDER.format(labelled_folder) + "&resize=short-64").label == f"{labelled_folder.name}-short-64"


def test_fingerprint_follows_content_and_rules_but_not_the_place(
    labelled_folder: Path, tmp_path: Path, write: Callable, photo: np.ndarray
) -> None:
    first = load(FOLDER.format(labelled_folder)).fingerprint()
    assert load(FOLDER.format(labelled_folder)).fingerprint() == first
    assert load(FOLDER.format(labelled_folder) + "&resize=short-64").fingerprint() != first
    assert load(f"folder:{labelled_folder}?classes=3&ignore=255,0").fingerprint() != first

    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    shutil.move(labelled_folder, moved)
    assert load(FOLDER.format(moved)).fingerprint() == first

    write(moved / "masks" / "a.png", np.random.default_rng(0).integers(0, 3, (4, 6)))  # takes more bytes
    changed = load(FOLDER.format(moved)).fingerprint()
    write(moved / "images" / "f.png", photo)
    assert len({first, changed, load(FOLDER.format(moved)).fingerprint()}) == 3


def test_fingerprint_hashes_plain_data(labelled_folder: Path) -> None:
    contents = load(FOLDER.format(labelled_folder)).contents()
    data = (labelled_folder / "images" / "a.png").read_bytes()
    assert contents[0][:2] == ("a", hashlib.blake2b(data, digest_size=16).hexdigest())
    assert digest(contents) == digest(json.loads(json.dumps(contents)))


def test_unknown_dataset_gets_a_suggestion() -> None:
    with pytest.raises(BadInput, match="did you mean 'shapes'"):
        load("shape:test")


def test_broken_files_still_have_a_fingerprint(labelled_folder: Path) -> None:
    (labelled_folder / "masks" / "a.png").unlink()
    assert load(FOLDER.format(labelled_folder)).contents()[0][2] == ""
