"""The contract over every registered dataset, on small trees of files in its layout."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from segstress.core import settings
from segstress.data import datasets, wrap
from segstress.data.shapes import Shapes
from segstress.testing import check_dataset

PHOTO = np.arange(4 * 6 * 3).reshape(4, 6, 3)
COLOURS = [[(128, 128, 128), (64, 192, 0), (0, 0, 0), (0, 128, 192), (192, 0, 192), (128, 0, 192)]] * 4
OWN = datasets.names()


def write(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(path)


def write_voc(root):
    for name in ("2007_01", "2007_02"):
        write(root / "JPEGImages" / f"{name}.jpg", PHOTO)
        write(root / "SegmentationClass" / f"{name}.png", [[0, 1, 15, 20, 255, 0]] * 4)
    lists = root / "ImageSets" / "Segmentation"
    lists.mkdir(parents=True)
    (lists / "val.txt").write_text("2007_02\n2007_01\n")


def write_cityscapes(root):
    write(root / "leftImg8bit" / "val" / "ulm" / "ulm_0_leftImg8bit.png", PHOTO)
    write(root / "gtFine" / "val" / "ulm" / "ulm_0_gtFine_labelIds.png", [[7, 33, 0, 29, 26, 13]] * 4)


def write_ade20k(root):
    write(root / "images" / "validation" / "ADE_1.jpg", PHOTO)
    write(root / "annotations" / "validation" / "ADE_1.png", [[0, 1, 2, 150, 13, 0]] * 4)


def write_folder(root):
    for name in "ab":
        write(root / "images" / f"{name}.png", PHOTO)
        write(root / "masks" / f"{name}.png", [[0, 1, 2, 255, 1, 0]] * 4)


def write_camvid_segnet(root):
    write(root / "test" / "a.png", PHOTO)
    write(root / "testannot" / "a.png", [[0, 1, 11, 10, 10, 3]] * 4)


def write_camvid_original(root):
    write(root / "701_StillsRaw_full" / "a.png", PHOTO)
    write(root / "LabeledApproved_full" / "a_L.png", COLOURS)


def write_camvid(root):
    write(root / "images" / "a.png", PHOTO)
    write(root / "masks" / "a.png", [[0, 1, 11, 10, 10, 3]] * 4)


def write_tar(root):
    write(root / "loose" / "a.png", PHOTO)
    with tarfile.open(root / "shard.tar", "w") as archive:
        archive.add(root / "loose" / "a.png", "a.png")


def write_parquet(root):
    write(root / "loose" / "a.png", PHOTO)
    image = {"bytes": (root / "loose" / "a.png").read_bytes(), "path": "a.png"}
    pq.write_table(pa.table({"image": [image, image]}), root / "rows.parquet")


def write_list(root):
    write(root / "a.png", PHOTO)
    pq.write_table(pa.table({"path": ["a.png"]}), root / "list.parquet")


MEMORY = wrap([(PHOTO.astype(np.uint8) // 2, np.array([[0, 1, 2, 255, 1, 0]] * 4))] * 2, classes=3)
LAYOUTS = {  # the class behind a name -> a tree in its layout, and how the spec goes on; a new one is added here
    "Shapes": (lambda root: None, "shapes:test?count=3&size=24"),
    "Voc": (write_voc, "{name}:{root}"),
    "Cityscapes": (write_cityscapes, "{name}:{root}"),
    "Ade20k": (write_ade20k, "{name}:{root}"),
    "Folder": (write_folder, "{name}:{root}?classes=zero,one,two&ignore=255"),
    "Camvid": (write_camvid, "{name}:{root}"),
    "Tar": (write_tar, "{name}:{root}/shard.tar"),
    "Wrapped": (lambda root: None, f"memory:mine?content={MEMORY.content}&classes=3&ignore=255"),
    "Embedded": (write_parquet, "{name}:{root}"),
    "Listed": (write_list, "{name}:{root}/list.parquet"),
}
OWN_LAYOUTS = {  # presets whose files lie otherwise
    "camvid-segnet": write_camvid_segnet,
    "camvid-original": write_camvid_original,
}


@pytest.mark.parametrize("name", OWN)
def test_contract(name, tmp_path):
    make, spec = LAYOUTS[datasets.get(name).__name__]
    OWN_LAYOUTS.get(name, make)(tmp_path)
    check_dataset(spec.format(name=name, root=tmp_path))


@settings
class Restless(Shapes):
    """Its ids come in another order each time."""

    calls: ClassVar[list[int]] = []

    def ids(self):
        self.calls.append(1)
        ids = super().ids()
        return ids[::-1] if len(self.calls) % 2 else ids


@settings
class LabelsUnderVoid(Shapes):
    """Void pixels keep a label."""

    def read(self, id):
        sample = super().read(id)
        valid = sample.valid.clone()
        valid[0] = False
        return replace(sample, valid=valid, labels=sample.labels.clone().fill_(1))


@pytest.mark.parametrize("planted", [Restless, LabelsUnderVoid], ids=lambda planted: planted.__name__)
def test_planted_bug_turns_the_contract_red(planted, register):
    with pytest.raises(AssertionError):
        check_dataset(register(datasets, planted)(split="test", count=3, size=24))


def test_layouts_name_datasets_that_exist():
    assert set(LAYOUTS) == {datasets.get(name).__name__ for name in OWN}
    assert set(OWN_LAYOUTS) <= set(OWN)
