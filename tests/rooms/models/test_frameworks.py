"""Networks of other frameworks: tiny, untrained, nothing is downloaded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from segstress import models
from segstress.core import BadInput
from segstress.models.frameworks import declare_operators

declare_operators()  # for what these tests import themselves
FREE = ("batch", "height", "width")
IMAGES = torch.rand(2, 3, 65, 70, generator=torch.Generator().manual_seed(0))


def settled(network: nn.Module) -> nn.Module:
    """With the statistics of the images: else the signal of an untrained network dies away before its last layer."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 1.0
    network.train()(IMAGES)
    return network.eval()


def test_torchvision_with_the_auxiliary_head_of_its_weights(tmp_path: Path) -> None:
    torchvision = pytest.importorskip("torchvision")
    path = tmp_path / "trained.pth"
    make = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large
    network = settled(make(weights=None, weights_backbone=None, num_classes=4, aux_loss=True))
    torch.save(network.state_dict(), path)
    chosen = models.models.build(f"torchvision:deeplabv3_mobilenet_v3_large?classes=4&weights={path}")
    mean, std = (torch.tensor(numbers).view(3, 1, 1) for numbers in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    torch.testing.assert_close(models.load(chosen)(IMAGES), network((IMAGES - mean) / std)["out"])
    assert chosen.label == "deeplabv3_mobilenet_v3_large-trained"
    with pytest.raises(BadInput, match="did you mean 'fcn_resnet50'"):
        models.load("torchvision:fcn_resnet5")


def test_torchvision_without_a_place_for_an_auxiliary_head(tmp_path: Path) -> None:
    pytest.importorskip("torchvision")
    spec = "torchvision:lraspp_mobilenet_v3_large?classes=5"
    with pytest.raises(
        BadInput, match=r"cannot have the auxiliary head that auxiliary=true asks for; leave it out, or"
    ):
        models.models.build(f"{spec}&auxiliary=true").network()
    torch.save({"aux_classifier.0.weight": torch.zeros(1)}, tmp_path / "a.pth")
    with pytest.raises(BadInput, match=r"auxiliary head that weights .*a.pth hold; take other weights, or take an fcn"):
        models.models.build(f"{spec}&weights={tmp_path / 'a.pth'}").network()


def test_smp_pads_what_its_networks_demand() -> None:
    pytest.importorskip("segmentation_models_pytorch")
    segmenter = models.load("smp:fpn?encoder=tu-mobilenetv3_small_050&classes=4")
    assert segmenter(IMAGES).shape == (2, 4, 65, 70)
    one_channel = models.load("smp:unet?encoder=tu-mobilenetv3_small_050&classes=1&channels=1")
    assert one_channel(IMAGES[:, :1]).shape == (2, 2, 65, 70)
    with pytest.raises(BadInput, match="unknown smp architecture 'unett'; did you mean 'unet'"):
        models.load("smp:unett")
    with pytest.raises(BadInput, match="unknown smp encoder 'resnet35'"):
        models.load("smp:unet?encoder=resnet35")


def write_onnx(path: Path, mode: str, classes: int = 4, size: tuple[Any, ...] = FREE) -> torch.Tensor:
    """A convolution whose bias passes through Identity, halved and grown again; returns its weights."""
    pytest.importorskip("onnx2pytorch")
    onnx = pytest.importorskip("onnx")
    node, (batch, *sides) = onnx.helper.make_node, size
    shape = [batch, 3, *sides]
    weights = np.random.default_rng(0).normal(size=(classes, 3, 2, 2)).astype(np.float32)
    nodes = [
        node("Identity", ["shared"], ["bias"]),
        node("Conv", ["images", "weights", "bias"], ["half"], strides=[2, 2]),
        node("Resize", ["half", "", "scales"], ["logits"], mode="linear", coordinate_transformation_mode=mode),
    ]
    tensors = {
        "weights": weights,
        "shared": np.arange(classes, dtype=np.float32),
        "scales": np.array([1, 1, 2, 2], np.float32),
    }
    graph = onnx.helper.make_graph(
        nodes, "net",
        [onnx.helper.make_tensor_value_info("images", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, [batch, classes, *sides])],
        [onnx.numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )  # fmt: skip
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return torch.from_numpy(weights)


def test_onnx_becomes_torch_with_gradients(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    weights = write_onnx(path, "half_pixel")
    images = IMAGES[..., :64, :70].clone().requires_grad_()
    half = functional.conv2d(images, weights, torch.arange(4.0), stride=2)
    expected = functional.interpolate(half, scale_factor=2, mode="bilinear", align_corners=False)
    found = models.load(f"onnx:{path}")(images)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    gradients = [torch.autograd.grad(logits.square().sum(), images)[0] for logits in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_onnx_that_torch_computes_otherwise_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    write_onnx(path, "asymmetric")
    with pytest.raises(BadInput, match="differs from onnxruntime by"):
        models.load(f"onnx:{path}")
    path.write_bytes(b"no graph")
    with pytest.raises(BadInput, match="cannot be turned into torch"):
        models.load(f"onnx:{path}")


def test_onnx_of_one_size_takes_no_other_and_several_images_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    write_onnx(path, "half_pixel", size=(1, 32, 48))
    segmenter = models.load(f"onnx:{path}")
    images = IMAGES[..., :32, :48]
    together = segmenter(images)
    torch.testing.assert_close(together, torch.cat([segmenter(image) for image in images.split(1)]))
    with pytest.raises(BadInput, match=r"takes images of 32 x 48, found 65 x 70; .*window=32,48"):
        segmenter(IMAGES)
    windows = models.load(f"onnx:{path}?window=32,48")
    assert windows(IMAGES).shape == (2, 4, 65, 70)


def test_onnx_with_one_free_side_takes_any_length_there(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    write_onnx(path, "half_pixel", size=("batch", 32, "width"))
    segmenter = models.load(f"onnx:{path}")
    assert segmenter(IMAGES[..., :32, :70]).shape == (2, 4, 32, 70)
    with pytest.raises(
        BadInput, match=r"ONNX graph takes images of 32 x any, found 64 x 70; resize the data or export"
    ):
        segmenter(IMAGES[..., :64, :70])


def test_onnx_of_another_size_is_refused_before_the_run(tmp_path: Path, segstress: Any) -> None:
    write_onnx(tmp_path / "mine.onnx", "half_pixel", classes=7, size=(1, 32, 48))
    how = ["--data", "shapes:test?count=2&size=64", "--attack", "pgd", "--eps", "8/255", "--out", "run"]
    said = segstress("attack", "--model", "onnx:mine.onnx", *how)
    assert said.code == 2
    assert "ONNX graph takes images of 32 x 48, found 64 x 64" in said.err
    assert not list((tmp_path / "run").rglob("*.parquet"))


def test_torchscript(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.BatchNorm2d(5), nn.Dropout())
    with warnings.catch_warnings(action="ignore"):
        torch.jit.script(network).save(tmp_path / "mine.pt")  # in train mode
    chosen = models.models.build(f"torchscript:{tmp_path}/mine.pt?mean=0.5&std=0.25")
    images = IMAGES.clone().requires_grad_()
    logits = models.load(chosen)(images)
    torch.testing.assert_close(logits, network.eval()((images - 0.5) / 0.25))
    assert torch.autograd.grad(logits.square().sum(), images)[0].any()
    assert chosen.label == "mine"
    torch.save(network.state_dict(), tmp_path / "mine.pt")
    with pytest.raises(BadInput, match=r"is no TorchScript.*a state_dict is loaded by"):
        models.load(chosen)
    with pytest.raises(BadInput, match="does not exist"):
        models.load("torchscript:absent.pt")
