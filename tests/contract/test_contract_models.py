"""The contract over every registered model: tiny, untrained, nothing is downloaded."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import torch
from tests.conftest import net
from tests.nets import Tiny
from torch import nn

from segstress import models
from segstress.models.compact import Compact
from segstress.models.frameworks import declare_operators
from segstress.models.memory import lend
from segstress.testing import check_model

declare_operators()  # for what this file imports itself
NEEDED = {
    "hf": "transformers",
    "mmseg": "mmengine",
    "onnx": "onnx2pytorch",
    "smp": "segmentation_models_pytorch",
    "torchvision": "torchvision",
}


def checkpoint(folder):
    path = folder / "tiny.safetensors"
    architecture = models.models.spec(Compact(name="cnn", classes=4))
    models.save(Compact(name="cnn", classes=4).network(), path, {"architecture": architecture})
    return f"checkpoint:{path}"


def segformer(folder):
    import transformers

    config = transformers.SegformerConfig(
        num_encoder_blocks=2,
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
        decoder_hidden_size=16,
        num_labels=5,
        depths=[1, 1],
        sr_ratios=[2, 1],
        hidden_sizes=[8, 16],
        patch_sizes=[7, 3],
        strides=[4, 2],
    )
    transformers.SegformerForSemanticSegmentation(config).save_pretrained(folder)
    return f"hf:{folder}?mean=0.5&std=0.25"


def onnx_file(folder):
    import onnx

    weights = np.random.default_rng(0).normal(size=(4, 3, 1, 1)).astype(np.float32)
    nodes = [onnx.helper.make_node("Conv", ["images", "weights"], ["logits"])]
    shape = ["batch", 3, "height", "width"]
    graph = onnx.helper.make_graph(
        nodes,
        "net",
        [onnx.helper.make_tensor_value_info("images", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["batch", 4, "height", "width"])],
        [onnx.numpy_helper.from_array(weights, "weights")],
    )
    path = folder / "mine.onnx"
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return f"onnx:{path}"


def torchscript(folder):
    path = folder / "traced.pt"
    with warnings.catch_warnings(action="ignore"):
        network = Compact(name="cnn", classes=4).network().eval()
        torch.jit.trace(network, torch.rand(1, 3, 16, 16)).save(path)
    return f"torchscript:{path}"


def exported(folder):
    network = Compact(name="cnn", classes=4).network().eval()
    program = torch.export.export(network, (torch.rand(1, 3, 64, 64),))
    torch.export.save(program, folder / "net.pt2")
    return f"exported:{folder}/net.pt2"


def with_weights(spec, folder):
    """The model with random weights that are the same whenever it is loaded."""
    network = models.models.build(spec).network()
    torch.save(getattr(network, "network", network).state_dict(), folder / "random.pth")
    return f"{spec}&weights={folder / 'random.pth'}"


LENT = Tiny()  # lives as long as this module
EXAMPLES = {  # how to make each; a new one is added here
    "checkpoint": checkpoint,
    "compact": lambda folder: "compact:cnn?classes=4",
    "ensemble": lambda folder: "ensemble?members=compact:cnn,compact:transformer&shares=0.25,0.75",
    "exported": exported,
    "factory": lambda folder: net("Tiny"),
    "hf": segformer,
    "mmseg": partial(with_weights, "mmseg:segformer_mit-b0_8xb2-160k_ade20k-512x512?classes=4"),
    "memory": lambda folder: models.models.spec(lend(LENT)),
    "onnx": onnx_file,
    "pruned": lambda folder: "pruned:compact:cnn?share=0.3",
    "smp": partial(with_weights, "smp:fpn?encoder=tu-mobilenetv3_small_050&classes=4"),
    "torchscript": torchscript,
    "torchvision": partial(with_weights, "torchvision:lraspp_mobilenet_v3_large?classes=4"),
}


@pytest.mark.parametrize("name", models.models.names())
def test_contract(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    check_model(EXAMPLES[name](tmp_path))


class Leaky(nn.Module):
    """Sees the mean of its batch."""

    def __init__(self):
        super().__init__()
        self.last = nn.Conv2d(3, 4, 1)

    def forward(self, images):
        return self.last(images - images.mean(0, keepdim=True))


class Deaf(Leaky):
    """Rounds what it sees, so that no gradient comes through."""

    def forward(self, images):
        return self.last((8 * images).round() / 8)


class Random(Leaky):
    """Adds noise to what it sees."""

    def forward(self, images):
        return self.last(images + 0.1 * torch.randn_like(images))


@pytest.mark.parametrize("planted", ["Leaky", "Deaf", "Random"])
def test_planted_bug_turns_the_contract_red(planted):
    with pytest.raises(AssertionError):
        check_model(f"factory:{__file__}:{planted}")
