"""Networks that want other images or give smaller logits are trained behind the adapter that stresses them."""

from __future__ import annotations

import json

import pytest
import torch

from segstress import load_model
from segstress.core import BadInput
from segstress.fitting.train import task_of, train
from segstress.models.frameworks import declare_operators
from segstress.training.trainee import adapt

from .conftest import NETWORKS

declare_operators()  # for what these tests import themselves
SHIFTED = f"factory:{NETWORKS}:grouped?mean=0.5&std=0.2&pad=8"


def test_what_is_trained_is_what_is_stressed(quick, tmp_path):
    plan = quick(model=SHIFTED)
    images = torch.rand(2, 3, 20, 20)
    trainee = task_of(plan).network
    torch.testing.assert_close(trainee.eval()(images), load_model(SHIFTED)(images))
    made = train(plan, tmp_path)
    model = load_model(f"checkpoint:{made}")
    assert (model.interface.mean, model.interface.std) == ((0.5,), (0.2,))
    trained = adapt(model.network, model.interface).train()  # no norm of it depends on the batch
    torch.testing.assert_close(trained(images), model.eval()(images))
    assert not torch.equal(model(images), load_model(SHIFTED)(images))


def test_branches_that_only_training_needs_have_the_adapter_too(quick, tmp_path):
    made = train(quick(model=SHIFTED, recipe="ddc-at", epochs=1), tmp_path)
    assert load_model(f"checkpoint:{made}")(torch.rand(1, 3, 20, 20)).shape == (1, 7, 20, 20)


@pytest.mark.parametrize(
    ("spec", "package"),
    [
        ("smp:unet?encoder=tu-mobilenetv3_small_050&classes=7", "segmentation_models_pytorch"),
        ("torchvision:lraspp_mobilenet_v3_large?classes=7", "torchvision"),
    ],
)
def test_networks_of_frameworks_can_be_trained(quick, tmp_path, spec, package):
    pytest.importorskip(package)
    plan = quick(model=spec, epochs=1, data="shapes:train?count=4&size=32", augmentation={}, validation=None)
    made = train(plan, tmp_path)
    assert json.loads(made.with_suffix(".json").read_text())["architecture"]["kind"] == spec.partition(":")[0]
    assert load_model(f"checkpoint:{made}")(torch.rand(1, 3, 32, 32)).shape == (1, 7, 32, 32)


def test_a_wrong_number_of_classes_is_said(quick, tmp_path):
    pytest.importorskip("segmentation_models_pytorch")
    with pytest.raises(BadInput, match=r"gives 21 classes, shapes-train has 7; set the model's classes"):
        train(quick(model="smp:unet?encoder=tu-mobilenetv3_small_050"), tmp_path)


def test_a_model_without_settable_outputs_cannot_have_branches(quick, tmp_path):
    start = train(quick(), tmp_path / "first")
    with pytest.raises(BadInput, match="model checkpoint: the recipe needs 16 outputs"):
        train(quick(model=f"checkpoint:{start}", recipe="ddc-at"), tmp_path / "second")
