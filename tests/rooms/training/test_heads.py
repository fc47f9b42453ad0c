"""Networks of frameworks tell their heads: they learn faster, and those beside the main one are trained too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch

from segstress import load_model
from segstress.fitting.train import task_of, train
from segstress.models import models
from segstress.models.frameworks import declare_operators
from segstress.training import optimisers, recipes
from segstress.training.batches import stack
from segstress.training.recipes import cross_entropy

from .conftest import NETWORKS

declare_operators()
DATA = "shapes:train?count=4&size=32"
MMSEG = """
norm = dict(type="BN")
head = dict(num_classes=7, in_channels=8, in_index=1, channels=8, num_convs=1, norm_cfg=norm, align_corners=False)
model = dict(
    type="EncoderDecoder",
    data_preprocessor=dict(type="SegDataPreProcessor", mean=[1.0] * 3, std=[2.0] * 3, bgr_to_rgb=True),
    backbone=dict(type="ResNet", depth=18, base_channels=4, num_stages=2, strides=(1, 2), dilations=(1, 1),
                  out_indices=(0, 1), norm_cfg=norm),
    decode_head=dict(type="FCNHead", **head), auxiliary_head=dict(type="FCNHead", **head),
    train_cfg=dict(), test_cfg=dict(mode="whole"))
"""
SPECS = {
    "segmentation_models_pytorch": ("smp:unet?encoder=tu-mobilenetv3_small_050&classes=7", 1),
    "torchvision": ("torchvision:deeplabv3_mobilenet_v3_large?classes=7&auxiliary=true", 2),
    "mmseg": ("mmseg:{config}", 2),
    "transformers": ("hf:{folder}/config.json", 2),
}
UPERNET = {
    "model_type": "upernet",
    "architectures": ["UperNetForSemanticSegmentation"],
    "backbone_config": {
        "model_type": "convnext",
        "depths": [1, 1, 1, 1],
        "hidden_sizes": [8, 8, 8, 8],
        "out_features": ["stage1", "stage2", "stage3", "stage4"],
    },
    "hidden_size": 8,
    "auxiliary_channels": 8,
    "auxiliary_in_channels": 8,
    "id2label": {str(number): f"class {number}" for number in range(7)},
}


@pytest.fixture(params=SPECS)
def task(request, quick, tmp_path):
    """A training of a network with random weights, and how many heads it has."""
    pytest.importorskip(request.param)
    (tmp_path / "tiny.py").write_text(MMSEG)
    (tmp_path / "config.json").write_text(json.dumps(UPERNET))
    spec, heads = SPECS[request.param]
    model = spec.format(config=tmp_path / "tiny.py", folder=tmp_path)
    plan = quick(model=model, data=DATA, validation=None, augmentation={})
    return task_of(plan), heads


def test_every_head_answers_at_the_size_of_the_images(task):
    network, heads = task[0].network.eval(), task[1]
    images = torch.rand(2, 3, 32, 40)
    answers = network.heads(images)
    assert len(answers) == heads
    assert {tuple(logits.shape) for logits in answers.values()} == {(2, 7, 32, 40)}
    torch.testing.assert_close(answers["main"], network(images))


def test_heads_learn_ten_times_faster(task):
    network = task[0].network
    groups = optimisers.build("sgd").make(network).param_groups
    assert [group["full"] for group in groups] == pytest.approx([0.01, 0.1])
    assert sum(len(group["params"]) for group in groups) == len(list(network.parameters()))
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    features = {names[id(parameter)] for parameter in groups[0]["params"]}
    assert not any("head" in name or "classifier" in name for name in features)


def test_a_second_head_weighs_two_fifths(task):
    network, heads = task
    reader = network.train
    batch = stack([reader.read(id_) for id_ in reader.ids])
    answers = network.network.eval().heads(batch.images)  # eval: batch norm gives the same twice
    loss = recipes.build("normal").loss(network.network, batch, 0, harm=None)
    terms = [(0.4 if name != "main" else 1.0) * cross_entropy(logits, batch) for name, logits in answers.items()]
    assert len(terms) == heads
    torch.testing.assert_close(loss.valid, sum(terms))


def test_heads_pass_the_adapter_too(quick):
    """A network that wants other images gets them in train mode as well, for each of its heads."""
    plan = quick(model=f"factory:{NETWORKS}:grouped?mean=0.5&std=0.2&pad=8")
    network, images = task_of(plan).network.eval(), torch.rand(1, 3, 20, 20)
    answers = network.heads(images)
    assert set(answers) == {"main", "deep"}
    bare = models.build(plan.model).network().eval()
    padded = torch.nn.functional.pad((images - 0.5) / 0.2, (0, 4, 0, 4))
    torch.testing.assert_close(answers["deep"], bare.heads(padded)["deep"][..., :20, :20])
    torch.testing.assert_close(answers["main"], load_model(plan.model)(images))


def test_the_example_of_own_code_tells_its_heads(quick, tmp_path, monkeypatch):
    page = (Path(__file__).parents[3] / "docs/frameworks/own-code.md").read_text()
    (code,) = re.findall(r"```python\n(# deep.py\n.*?)```", page, re.DOTALL)
    (model,), (optimiser,) = re.findall(r"`model: (\S+)`", page), re.findall(r"`optimiser: (\S+)`", page)
    (tmp_path / "deep.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    plan = quick(model=model, optimiser=optimiser, recipe="normal", epochs=1)
    task = task_of(plan)
    rates = {
        id(each): group["full"] for group in task.optimiser.make(task.network).param_groups for each in group["params"]
    }
    names = {name.removeprefix("network."): rates[id(each)] for name, each in task.network.named_parameters()}
    assert names == pytest.approx({name: 0.01 if name.startswith("features") else 0.1 for name in names})
    assert set(task.network.heads(torch.rand(1, 3, 16, 16))) == {"main", "early"}
    assert "warnings" not in task.card
    for recipe in ("normal", "ddc-at"):
        made = train(quick(model=model, optimiser=optimiser, recipe=recipe, epochs=1), tmp_path / recipe)
        assert load_model(f"checkpoint:{made}")(torch.rand(1, 3, 16, 16)).shape == (1, 7, 16, 16)
