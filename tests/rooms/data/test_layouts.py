"""The public datasets, each on a tiny tree in its own layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from segstress.core import BadImage, BadInput
from segstress.data import Dataset, Resize, datasets, load


@pytest.fixture
def voc_root(tmp_path: Path, write: Callable, photo: np.ndarray) -> Path:
    """Two images of VOC, of which the list names one, and another id that has no files."""
    for name in ("2007_01", "2007_02"):
        write(tmp_path / "JPEGImages" / f"{name}.jpg", photo)
        write(tmp_path / "SegmentationClass" / f"{name}.png", [[0, 1, 15, 20, 255, 0]] * 4)
    lists = tmp_path / "ImageSets" / "Segmentation"
    lists.mkdir(parents=True)
    (lists / "val.txt").write_text("2007_02\n2007_99\n")
    (lists / "none.txt").write_text("")
    return tmp_path


def first_row(dataset: Dataset, id: str) -> list[int | None]:
    """The labels of the upper row, none where void."""
    sample = dataset.read(id)
    pairs = zip(sample.labels[0].tolist(), sample.valid[0].tolist(), strict=True)
    return [label if valid else None for label, valid in pairs]


def test_voc_follows_its_list(voc_root: Path) -> None:
    dataset = load(f"voc:{voc_root}")
    assert dataset.ids() == ["2007_02", "2007_99"]
    assert first_row(dataset, "2007_02") == [0, 1, 15, 20, None, 0]
    assert (len(dataset.classes), dataset.classes[15], dataset.background) == (21, "person", 0)
    assert (dataset.label, dataset.void) == ("voc-val", "255")
    with pytest.raises(BadImage, match="no image '2007_99'"):
        dataset.read("2007_99")


def test_voc_can_count_void_as_background(voc_root: Path) -> None:
    dataset = load(f"voc:{voc_root}?void_as_background=true")
    assert first_row(dataset, "2007_02") == [0, 1, 15, 20, 0, 0]
    assert dataset.void == "none"


@pytest.fixture
def sbd_root(tmp_path_factory: pytest.TempPathFactory, voc_root: Path, write: Callable, photo: np.ndarray) -> Path:
    """SBD masks of a photograph that VOC trains with, of one in its validation list and of one that VOC leaves out."""
    root = tmp_path_factory.mktemp("sbd")
    (root / "cls").mkdir()
    write(voc_root / "JPEGImages" / "2008_03.jpg", photo)
    for name in ("2007_01", "2007_02", "2008_03"):
        savemat(root / "cls" / f"{name}.mat", {"GTcls": {"Segmentation": np.full((4, 6), 7, dtype=np.uint8)}})
    (root / "train.txt").write_text("2008_03\n2007_02\n")
    (root / "val.txt").write_text("2007_01\n")
    (voc_root / "ImageSets" / "Segmentation" / "train.txt").write_text("2007_01\n")
    return root


def test_sbd_fills_what_voc_has_not_drawn(voc_root: Path, sbd_root: Path) -> None:
    dataset = load(f"voc:{voc_root}?split=train_aug&sbd={sbd_root}")
    assert dataset.ids() == ["2007_01", "2008_03"], "all that is labelled, without VOC's validation list"
    assert first_row(dataset, "2007_01") == [0, 1, 15, 20, None, 0], "VOC's own mask"
    assert first_row(dataset, "2008_03") == [7] * 6, "that of SBD"


def test_a_list_of_the_user_goes_before_the_union(voc_root: Path, sbd_root: Path) -> None:
    (voc_root / "ImageSets" / "Segmentation" / "train_aug.txt").write_text("2008_03\n")
    assert load(f"voc:{voc_root}?split=train_aug&sbd={sbd_root}").ids() == ["2008_03"]


def test_sbd_that_is_not_there_or_broken_is_named(voc_root: Path, sbd_root: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"sbd: .*elsewhere has no cls/\*\.mat; expected the folder 'dataset'"):
        load(f"voc:{voc_root}?sbd={tmp_path / 'elsewhere'}")
    (sbd_root / "cls" / "2008_03.mat").write_bytes(b"no matlab file at all, but long enough to be looked at" * 9)
    with pytest.raises(BadImage, match=r"2008_03\.mat is damaged"):
        load(f"voc:{voc_root}?split=train_aug&sbd={sbd_root}").read("2008_03")
    (sbd_root / "val.txt").unlink()
    with pytest.raises(BadInput, match=r"sbd: .*val\.txt does not exist"):
        load(f"voc:{voc_root}?split=train_aug&sbd={sbd_root}")


def test_voc_palette_is_the_published_one() -> None:
    palette = datasets.build("voc:anywhere").palette
    assert palette[:4] == ((0, 0, 0), (128, 0, 0), (0, 128, 0), (128, 128, 0))
    assert (palette[8], palette[15], palette[20]) == ((64, 0, 0), (192, 128, 128), (0, 64, 128))


def test_voc_without_its_list_or_with_an_empty_one(voc_root: Path) -> None:
    with pytest.raises(BadInput, match=r"train\.txt does not exist"):
        load(f"voc:{voc_root}?split=train")
    with pytest.raises(BadInput, match="voc-none is empty"):
        load(f"voc:{voc_root}?split=none")


def test_cityscapes_maps_label_ids_to_train_ids(tmp_path: Path, write: Callable, photo: np.ndarray) -> None:
    write(tmp_path / "leftImg8bit" / "val" / "ulm" / "ulm_0_leftImg8bit.png", photo)
    truth = tmp_path / "gtFine" / "val" / "ulm"
    write(truth / "ulm_0_gtFine_labelIds.png", [[7, 33, 0, 29, 26, 13]] * 4)
    write(truth / "ulm_0_gtFine_color.png", photo)
    dataset = load(f"cityscapes:{tmp_path}")
    assert dataset.ids() == ["ulm/ulm_0"]
    assert first_row(dataset, "ulm/ulm_0") == [0, 18, None, None, 13, 4]
    assert (len(dataset.classes), dataset.classes[13], dataset.palette[13]) == (19, "car", (0, 0, 142))
    assert dataset.background is None


def test_ade20k_with_and_without_the_rest(tmp_path: Path, write: Callable, photo: np.ndarray) -> None:
    write(tmp_path / "images" / "validation" / "ADE_1.jpg", photo)
    write(tmp_path / "annotations" / "validation" / "ADE_1.png", [[0, 1, 2, 150, 13, 0]] * 4)
    plain, with_rest = load(f"ade20k:{tmp_path}"), load(f"ade20k:{tmp_path}?other=true")
    assert first_row(plain, "ADE_1") == [None, 0, 1, 149, 12, None]
    assert first_row(with_rest, "ADE_1") == [0, 1, 2, 150, 13, 0]
    assert (len(plain.classes), plain.classes[12], plain.classes[149]) == (150, "person", "flag")
    assert (len(with_rest.classes), with_rest.classes[13], with_rest.background) == (151, "person", 0)
    assert (plain.void, with_rest.void, plain.background) == ("0", "none", None)


CAMVID_COLOURS = [[(128, 128, 128), (64, 192, 0), (0, 0, 0), (0, 128, 192), (192, 0, 192), (128, 0, 192)]] * 4


@pytest.mark.parametrize(
    ("spec", "image", "mask", "pixels"),
    [
        ("camvid:{}", "images/a.png", "masks/a.png", [[0, 1, 11, 10, 10, 3]] * 4),
        ("camvid:{}?colours=true", "images/a.png", "masks/a.png", CAMVID_COLOURS),
        ("camvid-segnet:{}", "test/a.png", "testannot/a.png", [[0, 1, 11, 10, 10, 3]] * 4),
        ("camvid-segnet:{}?split=val", "val/a.png", "valannot/a.png", [[0, 1, 11, 10, 10, 3]] * 4),
        ("camvid-original:{}", "701_StillsRaw_full/a.png", "LabeledApproved_full/a_L.png", CAMVID_COLOURS),
    ],
)
def test_camvid_in_every_layout(
    tmp_path: Path, write: Callable, photo: np.ndarray, spec: str, image: str, mask: str, pixels: list
) -> None:
    write(tmp_path / image, photo)
    write(tmp_path / mask, pixels)
    dataset = load(spec.format(tmp_path))
    assert dataset.ids() == ["a"]
    assert first_row(dataset, "a") == [0, 1, None, 10, 10, 3]
    assert (dataset.classes[3], dataset.palette[3]) == ("road", (128, 64, 128))


def test_camvid_knows_all_32_original_colours() -> None:
    codes = datasets.build("camvid:anywhere?colours=true").codes()
    assert len(codes) == 32
    assert set(codes.values()) == {-1, *range(11)}


@pytest.mark.parametrize(
    ("name", "rule", "size"),
    [
        ("voc-512", "short", 512),
        ("voc-473", "centre-crop", 473),
        ("cityscapes-512x1024", "exact", (512, 1024)),
        ("cityscapes-1024x2048", "exact", (1024, 2048)),
        ("ade20k-150", "centre-crop", 512),
        ("ade20k-151", "centre-crop", 512),
    ],
)
def test_presets_fix_the_published_size(name: str, rule: str, size: int | tuple[int, int]) -> None:
    assert datasets.build(f"{name}:anywhere").resize == Resize(rule=rule, size=size)


def test_presets_fix_the_published_classes() -> None:
    assert datasets.build("voc-473:anywhere").void == "none"
    assert datasets.build("voc-512:anywhere").void == "255"
    assert [len(datasets.build(f"ade20k-{count}:anywhere").classes) for count in (150, 151)] == [150, 151]
