"""What models say of their classes reaches the reports of data that only numbers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.conftest import write_folder
from tests.rooms.models.test_huggingface import segformer
from tests.rooms.models.test_mmseg import BASE, build
from torch import nn

from segstress import models
from segstress.core import BadInput
from segstress.evaluation.model_check import try_out
from segstress.models import Legend
from segstress.models.frameworks import declare_operators
from segstress.planning import read_plan

declare_operators()  # for what these tests import themselves
NAMES = ("road", "sky", "car", "tree", "wall")
COLOURS = [[10, 20, 30], [40, 50, 60], [70, 80, 90], [1, 2, 3], [4, 5, 6]]
ENUM = "LRASPP_MobileNet_V3_Large_Weights.COCO_WITH_VOC_LABELS_V1"
LRASPP = "torchvision:lraspp_mobilenet_v3_large"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A tiny config of mmseg's with five classes."""
    pytest.importorskip("mmengine")
    path = tmp_path / "base.py"
    path.write_text(BASE)
    return path


def test_mmseg_checkpoint_names_reach_the_reports_of_numbered_classes(config: Path, tmp_path: Path) -> None:
    meta = {"dataset_meta": {"classes": NAMES, "palette": COLOURS}}
    torch.save({"meta": meta, "state_dict": build(f"mmseg:{config}").state_dict()}, tmp_path / "a.pth")
    spec, root = f"mmseg:{config}?weights={tmp_path}/a.pth", write_folder(tmp_path / "photos", [(16, 20)], classes=5)
    assert models.models.build(spec).legend() == Legend(NAMES, tuple((r, g, b) for r, g, b in COLOURS))
    data, named = f"folder:{root}?classes=5&ignore=255", f"folder:{root}?classes=road,sky,bus,tree,wall&ignore=255"
    assert try_out(spec, data, 1).names == "the model's (road, sky, car ...); the data has numbers only"
    assert try_out(spec, named, 1).names == "the model's class 2 is 'car', the data's 'bus'"
    for data, names, colours in (
        ("classes=5", list(NAMES), COLOURS),
        ("classes=a,b,c,d,e", list("abcde"), None),
    ):
        (cell,) = read_plan({"models": [spec], "data": [f"folder:{root}?{data}&ignore=255"]}).cells()
        assert cell.dataset_info["classes"] == names
        assert (cell.dataset_info["palette"] == COLOURS) == (colours is not None)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"metainfo = dict(classes={NAMES})", NAMES),
        (f"val_dataloader = dict(dataset=dict(type='X', metainfo=dict(classes={NAMES})))", NAMES),
        ("test_dataloader = dict(dataset=dict(type='PascalVOCDataset'))", None),  # 21 are not five
        ("", None),
    ],
)
def test_configs_that_name_classes(config: Path, text: str, names: Any) -> None:
    config.write_text(f"{BASE}\n{text}\n")
    found = models.models.build(f"mmseg:{config}").legend()
    assert found == (None if names is None else Legend(names))


def test_mmsegs_own_datasets_name_them(config: Path) -> None:
    joined = "train_dataloader = dict(dataset=dict(type='ConcatDataset', datasets=[dict(type='CityscapesDataset')]))"
    config.write_text(f"{BASE}\n{joined}\n")
    found = models.models.build(f"mmseg:{config}?classes=19").legend()
    assert (found.names[0], found.palette[0], len(found.names)) == ("road", (128, 64, 128), 19)


def test_a_class_count_that_is_not_the_datas_is_refused_before_the_run(config: Path, segstress: Any) -> None:
    how = ["--data", "shapes:test?count=1&size=64", "--attack", "pgd", "--eps", "8/255", "--workers", 1]
    said = segstress("attack", "--model", f"mmseg:{config}", *how)
    assert said.code == 2
    assert "gives 5 classes, the data has 7" in said.err
    assert said.err.count("\n") == 1


def test_a_checkpoint_of_another_network_names_five_on_both_sides(config: Path, tmp_path: Path) -> None:
    torch.save(nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)]).state_dict(), tmp_path / "other.pth")
    five = r"The file has 0\.weight, 0\.bias, 1\.weight, 1\.bias, 2\.weight, \.\.\. \(8\); "
    with pytest.raises(BadInput, match=five + r"the network wants (backbone\.stem\.\S+, ){5}\.\.\."):
        models.load(f"mmseg:{config}?weights={tmp_path}/other.pth")


def test_transformers_names_unless_they_are_numbers(tmp_path: Path) -> None:
    network = segformer(pytest.importorskip("transformers"))
    network.save_pretrained(tmp_path)
    assert models.models.build(f"hf:{tmp_path}").legend() is None
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"id2label": dict(enumerate(NAMES))}))
    assert models.models.build(f"hf:{tmp_path}").legend() == Legend(NAMES)


def test_torchvisions_names_bring_normalisation_and_classes_to_a_local_file(tmp_path: Path) -> None:
    torchvision = pytest.importorskip("torchvision")
    make = torchvision.models.segmentation.lraspp_mobilenet_v3_large
    torch.save(make(weights=None, weights_backbone=None).state_dict(), tmp_path / "mine.pth")
    chosen = models.models.build(f"{LRASPP}?weights={tmp_path}/mine.pth&transforms={ENUM}")
    rules = torchvision.models.get_weight(ENUM)
    assert chosen.interface().mean == tuple(rules.transforms().mean)
    assert chosen.legend() == Legend(tuple(rules.meta["categories"]))
    assert models.load(chosen)(torch.rand(1, 3, 32, 32)).shape == (1, 21, 32, 32)
    assert models.models.build(f"{LRASPP}?classes=5&transforms={ENUM}").legend() is None


def test_torchvisions_weights_come_from_the_cache_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torchvision = pytest.importorskip("torchvision")
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    with pytest.raises(
        BadInput, match=r"V1 are not in torch's cache, and nothing is downloaded.*https://.*transforms="
    ):
        models.load(f"{LRASPP}?weights={ENUM}")
    path = tmp_path / "checkpoints" / torchvision.models.get_weight(ENUM).url.rpartition("/")[2]
    path.parent.mkdir()
    network = torchvision.models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None)
    torch.save(network.state_dict(), path)
    chosen = models.models.build(f"{LRASPP}?weights={ENUM}")
    assert chosen.label == "lraspp_mobilenet_v3_large-COCO_WITH_VOC_LABELS_V1"
    weights = models.load(chosen).network.state_dict()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in network.state_dict().items())
    assert len(chosen.legend().names) == 21


@pytest.mark.parametrize("setting", ["weights", "transforms"])
def test_a_name_that_torchvision_does_not_have(setting: str) -> None:
    pytest.importorskip("torchvision")
    with pytest.raises(BadInput, match=f"unknown weights of torchvision's .*; did you mean '{ENUM}'"):
        models.load(f"{LRASPP}?{setting}={ENUM[:-1]}2")
