"""A user's own folder: matched by name, nothing guessed, every fault named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from segstress.core import BadImage, BadInput
from segstress.data import Dataset, load

LABELLED = "classes=3&ignore=255"


def open_folder(root: Path, query: str = LABELLED) -> Dataset:
    """The folder as the command line would name it."""
    return load(f"folder:{root}?{query}")


def test_images_meet_their_masks(labelled_folder: Path, photo: np.ndarray) -> None:
    dataset = open_folder(labelled_folder)
    assert dataset.ids() == ["a", "b", "c", "d", "e"]
    sample = dataset.read("b")
    assert torch.equal(sample.image, torch.from_numpy(photo + 1).permute(2, 0, 1) / 255)
    assert sample.labels.tolist() == [[0, 1, 2, 0, 1, 0]] * 4
    assert sample.valid.tolist() == [[True, True, True, False, True, True]] * 4
    assert (dataset.void, dataset.classes) == ("255", ("class 0", "class 1", "class 2"))


def test_several_ids_are_ignored_even_if_they_are_classes(labelled_folder: Path) -> None:
    dataset = open_folder(labelled_folder, "classes=3&ignore=255,0")
    assert dataset.read("a").valid[0].tolist() == [False, True, True, False, True, False]
    assert dataset.void == "255,0"


def test_ignore_none_counts_every_pixel(labelled_folder: Path) -> None:
    dataset = open_folder(labelled_folder, "classes=256&ignore=none")
    assert dataset.read("a").valid.all()
    assert dataset.void == "none"


def test_class_file_gives_names(labelled_folder: Path) -> None:
    (labelled_folder / "classes.txt").write_text("sky\nroad\n\npotted plant\n")
    dataset = open_folder(labelled_folder, "classes=classes.txt&ignore=255&background=0")
    assert dataset.classes == ("sky", "road", "potted plant")
    assert dataset.background == 0
    assert len(set(dataset.palette)) == 3


def test_nested_folders_suffixes_and_extensions(tmp_path: Path, write: Callable, photo: np.ndarray) -> None:
    write(tmp_path / "left" / "ulm" / "u_1_left.jpg", photo)
    write(tmp_path / "fine" / "ulm" / "u_1_ids.png", np.zeros((4, 6)))
    write(tmp_path / "fine" / "ulm" / "u_1_other.png", photo)
    write(tmp_path / "fine" / "ulm" / "._u_1_ids.png", photo)
    dataset = open_folder(tmp_path, f"images=left&masks=fine&image_suffix=_left&mask_suffix=_ids&{LABELLED}")
    assert dataset.ids() == ["ulm/u_1"]
    assert dataset.read("ulm/u_1").valid.all()


def test_unlabelled_images_have_no_valid_pixel(labelled_folder: Path) -> None:
    dataset = open_folder(labelled_folder, "masks=none")
    sample = dataset.read("a")
    assert not sample.valid.any()
    assert not sample.labels.any()


def test_colour_masks(tmp_path: Path, write: Callable, photo: np.ndarray) -> None:
    write(tmp_path / "images" / "a.png", photo[:1, :3])
    write(tmp_path / "masks" / "a.png", [[(0, 0, 0), (9, 8, 7), (1, 2, 3)]])
    (tmp_path / "colours.txt").write_text("1 2 3\n9 8 7\n")
    dataset = open_folder(tmp_path, "classes=2&ignore=0x000000&colours=colours.txt")
    assert dataset.read("a").labels.tolist() == [[0, 1, 0]]
    assert dataset.read("a").valid.tolist() == [[False, True, True]]
    assert dataset.palette == ((1, 2, 3), (9, 8, 7))
    with pytest.raises(BadInput, match="colour 0x000000 is neither one of the 2 classes nor ignored"):
        open_folder(tmp_path, "classes=2&ignore=none&colours=colours.txt")


def test_all_void_mask_is_legal(labelled_folder: Path, write: Callable) -> None:
    write(labelled_folder / "masks" / "c.png", np.full((4, 6), 255))
    assert not open_folder(labelled_folder).read("c").valid.any()


def test_images_of_different_sizes_and_channels(labelled_folder: Path, write: Callable) -> None:
    write(labelled_folder / "images" / "f.png", np.zeros((2, 9, 3)))
    write(labelled_folder / "masks" / "f.png", np.zeros((2, 9)))
    np.save(labelled_folder / "images" / "g.npy", np.zeros((6, 6, 5)))
    write(labelled_folder / "masks" / "g.png", np.zeros((6, 6)))
    dataset = open_folder(labelled_folder)
    assert [tuple(dataset.read(id).image.shape) for id in "afg"] == [(3, 4, 6), (3, 2, 9), (5, 6, 6)]


@pytest.mark.parametrize(
    ("id", "fault"),
    [
        ("lonely", r"image .*lonely\.png has no mask"),
        ("ghost", r"mask .*ghost\.png has no image"),
        ("wide", r"image .*wide\.png is 4x6 \(height x width\), its mask 4x7"),
        ("strange", r"mask .*strange\.png: label id 42 is neither one of the 3 classes nor ignored"),
        ("cut", r"cut\.png is damaged"),
        ("empty", r"empty\.png is empty"),
        ("nobody", "has no image 'nobody'"),
    ],
)
def test_one_bad_image_is_named_and_the_others_go_on(
    labelled_folder: Path, write: Callable, photo: np.ndarray, id: str, fault: str
) -> None:
    images, masks = labelled_folder / "images", labelled_folder / "masks"
    for name in ("lonely", "wide", "strange", "cut", "empty"):
        write(images / f"{name}.png", photo)
    for name, pixels in (("ghost", [[0]]), ("wide", np.zeros((4, 7))), ("strange", np.full((4, 6), 42))):
        write(masks / f"{name}.png", pixels)
    for name in ("cut", "empty"):
        write(masks / f"{name}.png", np.zeros((4, 6)))
    (images / "cut.png").write_bytes((images / "cut.png").read_bytes()[:50])
    (images / "empty.png").write_bytes(b"")
    dataset = open_folder(labelled_folder)
    with pytest.raises(BadImage, match=fault):
        dataset.read(id)
    assert dataset.read("a").valid.any()


@pytest.mark.parametrize(("query", "id"), [("classes=2&ignore=255", 2), ("classes=3&ignore=none", 255)])
def test_same_unknown_id_in_most_masks_refuses_the_folder(
    labelled_folder: Path, write: Callable, query: str, id: int
) -> None:
    for name in "ab":
        write(labelled_folder / "masks" / f"{name}.png", np.zeros((4, 6)))
    with pytest.raises(
        BadInput, match=f"label id {id} is neither one of the . classes nor ignored, in 3 of the first 5"
    ):
        open_folder(labelled_folder, query)


def test_unknown_id_in_half_of_the_masks_is_left_to_its_rows(labelled_folder: Path, write: Callable) -> None:
    (labelled_folder / "images" / "e.png").unlink()
    (labelled_folder / "masks" / "e.png").unlink()
    for name in "ab":
        write(labelled_folder / "masks" / f"{name}.png", np.full((4, 6), 9))
    dataset = open_folder(labelled_folder)
    with pytest.raises(BadImage, match="label id 9"):
        dataset.read("a")


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("classes=3", "ignore= .* neither is guessed"),
        ("ignore=255", "classes= .* neither is guessed"),
        ("images=photos&masks=none", r"folder .*photos does not exist"),
        ("masks=truth&classes=3&ignore=255", r"folder .*truth does not exist"),
        ("masks=void&classes=3&ignore=255", r"folder .*void holds no image files"),
        ("masks=others&classes=3&ignore=255", "no image has a mask of the same name"),
        ("classes=names.txt&ignore=255", "classes: file 'names.txt' does not exist"),
        ("classes=3&ignore=255&background=3", "background: expected a class below 3, found 3"),
        ("classes=3&ignore=255&colours=two.txt", "a different one for each of 3 classes, found 2"),
        ("clases=3&ignore=255", "unknown setting 'clases'; did you mean 'classes'"),
    ],
)
def test_request_that_cannot_be_served(labelled_folder: Path, write: Callable, query: str, fault: str) -> None:
    (labelled_folder / "void").mkdir()
    write(labelled_folder / "others" / "z.png", [[0]])
    (labelled_folder / "two.txt").write_text("1 2 3\n4 5 6\n")
    with pytest.raises(BadInput, match=fault) as caught:
        open_folder(labelled_folder, query)
    assert not isinstance(caught.value, BadImage)
    assert "\n" not in str(caught.value)


def test_two_images_of_one_id_are_refused(labelled_folder: Path, write: Callable, photo: np.ndarray) -> None:
    write(labelled_folder / "images" / "a.jpg", photo)
    with pytest.raises(BadInput, match=r"a\.jpg and .*a\.png share the id 'a'"):
        open_folder(labelled_folder)
