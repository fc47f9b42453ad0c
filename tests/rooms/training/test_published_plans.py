"""Training plans as published: each is read with these settings, and runs on folders laid out as theirs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from segstress import load_model
from segstress.fitting.plan import TrainingPlan, read_training_plan, training_plans
from segstress.fitting.train import train
from segstress.models import models
from segstress.training import optimisers, schedules

SEMSEG = {"rate": 0.01, "heads": 10.0, "momentum": 0.9, "decay": 1e-4, "power": 0.9, "warm_up": 0.0, "batch": 16}
SEMSEG |= {"first": 0.04, "spread": "uniform", "blur_sigma": 1.1, "short_side": None, "outside": None}
VOC = {"crop": 473, "scale": (0.5, 2.0), "epochs": 50, "classes": 21}
CITYSCAPES = {"crop": 449, "scale": (0.25, 1.0), "epochs": 400, "classes": 19}
PIR = {"recipe": "pir-at", "turn": 0.0, "batch": 128, "first": 1e-5}
PIR |= {"blur_sigma": None, "short_side": 512, "outside": 0}  # 256 to 1024, background around them
TABLE = {
    "voc-pspnet": SEMSEG | VOC | {"recipe": "pgd-at", "turn": 10.0},
    "voc-deeplabv3": SEMSEG | VOC | {"recipe": "pgd-at", "turn": 10.0},
    "cityscapes-pspnet": SEMSEG | CITYSCAPES | {"recipe": "pgd-at", "turn": 10.0},
    "cityscapes-deeplabv3": SEMSEG | CITYSCAPES | {"recipe": "pgd-at", "turn": 10.0},
    "voc-pir-at-pspnet": SEMSEG | VOC | PIR | {"rate": 5e-4, "decay": 0.0, "warm_up": 0.1},
    "voc-pir-at-upernet": SEMSEG
    | VOC
    | PIR
    | {"rate": 1e-3, "heads": 1.0, "momentum": None, "decay": 0.01, "power": 1.0, "warm_up": 0.2},
}


def write(path: Path, array: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, str]:
    """Two photographs in either layout."""
    root, draw = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for name in ("a", "b"):
        photo, codes = draw.integers(0, 256, (48, 64, 3), dtype=np.uint8), np.zeros((48, 64), np.uint8)
        codes[10:30, 20:50], codes[:3] = 7, 255
        write(root / f"voc/JPEGImages/{name}.jpg", photo)
        write(root / f"voc/SegmentationClass/{name}.png", codes)
        write(root / f"city/leftImg8bit/train/ulm/ulm_{name}_leftImg8bit.png", photo)
        write(root / f"city/gtFine/train/ulm/ulm_{name}_gtFine_labelIds.png", np.where(codes == 255, 0, codes))
    lists = root / "voc/ImageSets/Segmentation/train.txt"
    lists.parent.mkdir(parents=True)
    lists.write_text("a\nb\n")
    return {"voc": f"voc:{root / 'voc'}?split=train", "cityscapes": f"cityscapes:{root / 'city'}?split=train"}


def test_the_table_has_every_plan_on_photographs():
    assert set(TABLE) == {name for name in training_plans() if name.startswith(("voc", "cityscapes"))}


def one_step(name: str, folders: dict[str, str], crop: int, **changes: str) -> TrainingPlan:
    """Return a plan for two photographs, at this crop and short side."""
    changes |= {"data": folders[name.partition("-")[0]]}
    plan = read_training_plan(name, {"epochs": 1, "batch_size": 2, **changes})
    side = plan.augmentation.short_side and crop
    augmentation = dataclasses.replace(plan.augmentation, crop=crop, short_side=side)
    return dataclasses.replace(plan, augmentation=augmentation)


@pytest.mark.parametrize("name", TABLE)
def test_a_plan_is_exactly_these_settings(name):
    plan, wanted = read_training_plan(name, {}), TABLE[name]
    optimiser, schedule = optimisers.build(plan.optimiser), schedules.build(plan.schedule)
    found = {key: getattr(optimiser, key, None) for key in ("rate", "heads", "momentum", "decay")}
    found |= {"power": schedule.power, "warm_up": schedule.warm_up, "batch": plan.batch_size, "recipe": plan.recipe}
    drawn = ("crop", "scale", "turn", "spread", "blur_sigma", "short_side", "outside")
    found |= {key: getattr(plan.augmentation, key) for key in drawn} | {"epochs": plan.epochs, "first": schedule.first}
    assert found == {key: value for key, value in wanted.items() if key != "classes"}
    assert (plan.augmentation.blur, plan.augmentation.mirror) == (0.5, 0.5)


@pytest.mark.parametrize("name", TABLE)
def test_a_plan_takes_a_step_on_a_folder_of_its_layout(name, folders, tmp_path):
    """With a small network in place of its own, which takes seconds."""
    plan = one_step(name, folders, crop=33)
    small = dataclasses.replace(plan, model=f"compact:cnn?classes={TABLE[name]['classes']}", backbone=None)
    assert train(small, tmp_path).is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_a_plan_takes_a_step_with_its_own_network(name, folders, tmp_path):
    """Small crops, and as backbone a file of the features that the network has anyway, or timm's of the same kind."""
    pytest.importorskip("segmentation_models_pytorch" if "upernet" in name else "mmseg")
    file, before = tmp_path / "mine.pth", read_training_plan(name, {})
    features = models.build(before.model).network().get_submodule(before.backbone.part).state_dict()
    if before.backbone.rename:
        features = pytest.importorskip("timm").create_model("convnext_tiny").state_dict()
    torch.save({before.backbone.key: features} if before.backbone.key else features, file)
    plan = one_step(name, folders, crop=65, backbone=str(file))
    made = train(plan, tmp_path)
    assert load_model(f"checkpoint:{made}")(torch.rand(1, 3, 65, 65)).shape == (1, TABLE[name]["classes"], 65, 65)


@pytest.mark.parametrize("name", [name for name in TABLE if "upernet" not in name])
def test_a_plan_names_a_network_that_there_is(name):
    pytest.importorskip("mmseg")
    model = models.build(read_training_plan(name, {}).model)
    config = model._read().model
    assert config.auxiliary_head.loss_decode.loss_weight == 0.4
    assert (model.classes or config.decode_head.num_classes) == TABLE[name]["classes"]
