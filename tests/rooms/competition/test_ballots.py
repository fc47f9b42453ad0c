"""Formats of annotation tools: exact round trips, and one line for every broken file."""

from __future__ import annotations

import base64
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from segstress.competition.formats.fiftyone import Shown, write_fiftyone
from segstress.competition.formats.label_task import LabelResult, LabelTask, Scheme, colour_of, formats, png
from segstress.competition.formats.palette_png import write_mask
from segstress.core import BadInput
from segstress.data import load

SCHEME = Scheme(["background", "cat", "dog & co", "bird"], background=0)
SPECS = ["labelme", "labelme?shapes=polygons", "png", "cvat", "label-studio", "label-studio?regions=brush"]


def task(seed: int = 0, sides: tuple[int, int] = (9, 13), scheme: Scheme = SCHEME) -> LabelTask:
    random = np.random.default_rng(seed)
    labels = random.integers(len(scheme.classes), size=sides).astype(np.uint8)
    labels[random.random(sides) < 0.1] = scheme.void
    return LabelTask(f"{seed:016x}", random.integers(256, size=(*sides, 3)).astype(np.uint8), labels)


def read(spec: str, folder: Path, scheme: Scheme = SCHEME) -> list[LabelResult]:
    return list(formats.build(spec).read(folder, scheme))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("scheme", [SCHEME, Scheme(["sky", "road"])], ids=["with background", "without"])
def test_round_trip_is_exact(spec: str, scheme: Scheme, tmp_path: Path) -> None:
    tasks = [task(0, scheme=scheme), task(1, (1, 1), scheme), task(2, (17, 4), scheme)]
    tasks[1].labels[:] = 1
    formats.build(spec).write(tasks, scheme, tmp_path)
    found = read(spec, tmp_path, scheme)
    assert [result.image for result in found] == [each.image for each in tasks]
    for result, sent in zip(found, tasks, strict=True):
        assert result.fault == ""
        np.testing.assert_array_equal(result.labels, sent.labels)
        picture = next(tmp_path.rglob(f"{sent.image}.png"))
        if picture.parent.name != "masks":
            np.testing.assert_array_equal(np.asarray(Image.open(picture)), sent.pixels)


def test_pascal_colours() -> None:
    known = {1: (128, 0, 0), 2: (0, 128, 0), 15: (192, 128, 128), 20: (0, 64, 128), 255: (224, 224, 192)}
    assert {label: colour_of(label) for label in known} == known


def test_exported_masks_are_a_dataset(tmp_path: Path) -> None:
    sent = task()
    formats.build("png").write([sent], SCHEME, tmp_path)
    data = load(f"folder:{tmp_path}?classes=classes.txt&ignore=255")
    sample = data.read(sent.image)
    np.testing.assert_array_equal(sample.valid.numpy(), sent.labels != 255)
    np.testing.assert_array_equal(sample.labels.numpy()[sample.valid], sent.labels[sent.labels != 255])


def edit(folder: Path, **changes: object) -> LabelResult:
    """Change one LabelMe file and read it."""
    sent = task()
    formats.build("labelme").write([sent], SCHEME, folder)
    path = folder / f"{sent.image}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    (result,) = read("labelme", folder)
    return result


def shape(points: list[list[float]], label: str = "cat", kind: str = "polygon", mask: str | None = None) -> dict:
    return {"label": label, "points": points, "shape_type": kind, "mask": mask}


SMALL = base64.b64encode(png(np.ones((3, 3), dtype=np.uint8))).decode()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"shapes": [shape([[0, 0], [3, 0], [3, 3]], label="unicorn")]}, "unknown label 'unicorn'"),
        ({"shapes": [shape([[20, 20], [30, 20], [30, 30]])]}, "outside the image"),
        ({"shapes": [shape([[1, 1]], kind="point")]}, "covers no pixels"),
        ({"shapes": [shape([[1, 1], [4, 4]])]}, "polygon of 2 points covers no pixels"),
        ({"shapes": [shape([[11, 0], [13, 2]], kind="mask", mask=SMALL)]}, "does not fit"),
        ({"shapes": [shape([[0, 0], [2, 2]], kind="mask", mask="bm9uZQ==")]}, "cannot be decoded"),
        ({"shapes": [{"label": "cat"}]}, "cannot be read"),
        ({"imageHeight": None}, "no LabelMe file"),
    ],
)
def test_broken_labelme_files_are_faults(changes: dict, fault: str, tmp_path: Path) -> None:
    result = edit(tmp_path, **changes)
    assert fault in result.fault
    assert result.labels is None


def test_labelme_shapes_of_people(tmp_path: Path) -> None:
    painted = [shape([[-5, -5], [2, -5], [2, 1], [-5, 1]]), shape([[5, 5], [3, 3]], "bird", "rectangle")]
    result = edit(tmp_path, shapes=painted, flags={"reject": True})
    expected = np.zeros((9, 13), dtype=np.uint8)
    expected[:2, :3] = 1
    expected[3:6, 3:6] = 3
    np.testing.assert_array_equal(result.labels, expected)
    assert result.rejected


def test_not_json_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    assert "no LabelMe file" in read("labelme", tmp_path)[0].fault


def test_strange_masks_are_faults(tmp_path: Path) -> None:
    write_mask(tmp_path / "a.png", np.full((2, 2), 7, dtype=np.uint8))
    (tmp_path / "b.png").write_bytes(b"nothing")
    Image.new("RGB", (2, 2)).save(tmp_path / "c.png")
    faults = [result.fault for result in read("png", tmp_path)]
    assert ["label 7" in faults[0], "decoded" in faults[1], "one channel" in faults[2]] == [True] * 3


def test_cvat_refuses_what_it_did_not_write(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no \.zip"):
        read("cvat", tmp_path)
    (tmp_path / "a.zip").write_bytes(b"PK")
    with pytest.raises(BadInput, match="no CVAT export"):
        read("cvat", tmp_path)


def test_cvat_unknown_colour_is_a_fault(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("labelmap.txt", "background:0,0,0::\ncat:128,0,0::\n")
        archive.writestr("SegmentationClass/x.png", png(np.full((2, 2, 3), 9, dtype=np.uint8)))
    assert "0x090909" in read("cvat", tmp_path)[0].fault


def test_label_studio_without_an_answer_is_a_fault(tmp_path: Path) -> None:
    tasks = [{"data": {"image": "a/x.png"}}, {"data": {"image": "y.png"}, "annotations": [{"result": []}]}, {}]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    found = read("label-studio", tmp_path)
    assert [result.image for result in found] == ["x", "y", "?"]
    assert all(result.fault for result in found)


def test_more_than_255_classes_fit_into_png(tmp_path: Path) -> None:
    scheme = Scheme([f"class {number}" for number in range(300)])
    labels = np.array([[299, 0], [65535, 256]], dtype=np.uint16)
    formats.build("png").write([LabelTask("x", np.zeros((2, 2, 3), dtype=np.uint8), labels)], scheme, tmp_path)
    (result,) = read("png", tmp_path, scheme)
    np.testing.assert_array_equal(result.labels, labels)


def test_fiftyone_folder_is_complete_and_its_script_compiles(tmp_path: Path) -> None:
    sent = task()
    shown = Shown(sent, {"net a": sent.labels}, ["mad"], {"iou_net_a": 0.5, "mad_hits": ["a|b|cat|0"]})
    write_fiftyone([shown], SCHEME, tmp_path, "mad")
    compile((tmp_path / "load.py").read_text(), "load.py", "exec")
    content = json.loads((tmp_path / "samples.json").read_text())
    for folder in content["masks"].values():
        mask = Image.open(tmp_path / folder / f"{sent.image}.png")
        assert mask.mode == "L"
        np.testing.assert_array_equal(np.asarray(mask), sent.labels)
