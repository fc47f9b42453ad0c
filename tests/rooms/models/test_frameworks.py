"""Networks of other frameworks: tiny, untrained, nothing is downloaded."""

from __future__ import annotations

import json
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


def segformer(transformers: Any, classes: int = 5) -> Any:
    """Two stages."""
    stages = {"depths": [1, 1], "sr_ratios": [2, 1], "hidden_sizes": [8, 16], "patch_sizes": [7, 3], "strides": [4, 2]}
    config = transformers.SegformerConfig(
        num_encoder_blocks=2,
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
        decoder_hidden_size=16,
        num_labels=classes,
        **stages,
    )
    return transformers.SegformerForSemanticSegmentation(config).eval()


def test_segformer_is_normalised_and_upsampled_as_its_folder_says(tmp_path: Path) -> None:
    network = segformer(pytest.importorskip("transformers"))
    network.save_pretrained(tmp_path)
    rules = {"rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.25] * 3}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(rules))
    logits = network((IMAGES - 0.5) / 0.25).logits
    expected = functional.interpolate(logits, size=(65, 70), mode="bilinear", align_corners=False)
    segmenter = models.load(f"hf:{tmp_path}")
    torch.testing.assert_close(segmenter(IMAGES), expected)
    assert models.load(f"hf:{tmp_path}/config.json")(IMAGES).shape == expected.shape


def test_the_preprocessor_may_leave_images_in_0_to_255_and_turn_them_round(tmp_path: Path) -> None:
    rules = {"do_rescale": False, "do_normalize": False, "do_flip_channel_order": True}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(rules))
    known = models.models.build(f"hf:{tmp_path}").interface()
    assert (known.scale, known.bgr, known.mean) == (255, True, (0,))


def test_transformers_without_all_their_weights_are_refused(tmp_path: Path) -> None:
    network = segformer(pytest.importorskip("transformers"))
    network.save_pretrained(tmp_path)
    weights = {name: tensor for name, tensor in network.state_dict().items() if "classifier" not in name}
    network.save_pretrained(tmp_path, state_dict=weights)
    with pytest.raises(BadInput, match=r"lacks weights: decode_head\.classifier"):
        models.load(f"hf:{tmp_path}")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(BadInput, match="cannot be loaded"):
        models.load(f"hf:{tmp_path}")
    (tmp_path / "config.json").unlink()
    with pytest.raises(BadInput, match=r"expected a folder of transformers with config\.json"):
        models.load(f"hf:{tmp_path}")


def mask2former(transformers: Any) -> Any:
    """Six queries and five classes."""
    stages = ["stage1", "stage2", "stage3", "stage4"]
    backbone = transformers.SwinConfig(
        image_size=64, embed_dim=8, depths=[1] * 4, num_heads=[1, 1, 2, 2], window_size=4, out_features=stages
    )
    config = transformers.Mask2FormerConfig(
        backbone_config=backbone, feature_size=32, mask_feature_size=32, hidden_dim=32, encoder_feedforward_dim=16,
        encoder_layers=1, decoder_layers=2, num_attention_heads=2, dim_feedforward=16, num_queries=6, num_labels=5,
    )  # fmt: skip
    return transformers.Mask2FormerForUniversalSegmentation(config).eval()


def test_mask2former_sums_its_masks_on_every_pixel(tmp_path: Path) -> None:
    network = mask2former(pytest.importorskip("transformers"))
    network.save_pretrained(tmp_path)
    answer = network(IMAGES)
    scores = torch.zeros(2, 5, *answer.masks_queries_logits.shape[-2:])
    for query in range(6):
        share = answer.class_queries_logits[:, query].softmax(-1)[:, :5, None, None]
        scores += share * answer.masks_queries_logits[:, query, None].sigmoid()
    expected = functional.interpolate(scores, size=(65, 70), mode="bilinear", align_corners=False)
    images = IMAGES.clone().requires_grad_()
    logits = models.load(f"hf:{tmp_path}")(images)
    torch.testing.assert_close(logits.exp(), expected, rtol=1e-4, atol=1e-6)
    (gradient,) = torch.autograd.grad(logits.sum(), images)
    assert gradient.isfinite().all()
    assert gradient.any()


def write_onnx(path: Path, mode: str, classes: int = 4) -> torch.Tensor:
    """A convolution whose bias passes through Identity, halved and grown again; returns its weights."""
    pytest.importorskip("onnx2pytorch")
    onnx = pytest.importorskip("onnx")
    node, shape = onnx.helper.make_node, ["batch", 3, "height", "width"]
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
        [onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["batch", classes, "height", "width"])],
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
