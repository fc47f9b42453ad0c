"""Networks of mmsegmentation answer as mmseg's own preprocessing and inference do, on random weights."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from segstress import models
from segstress.core import BadInput
from segstress.models.frameworks import declare_operators

declare_operators()
pytest.importorskip("mmengine")
mmseg_adapter = pytest.importorskip("segstress.models.mmseg")

SEGFORMER = "segformer_mit-b0_8xb2-160k_ade20k-512x512"
LARGE = [
    "fcn_hr48_4xb2-40k_cityscapes-512x1024",
    "pspnet_r50-d8_4xb4-20k_voc12aug-512x512",
    "deeplabv3_r50-d8_4xb2-40k_cityscapes-512x1024",
    "deeplabv3plus_r50-d8_4xb2-40k_cityscapes-512x1024",
    "segmenter_vit-s_fcn_8xb1-160k_ade20k-512x512",
    "convnext-tiny_upernet_8xb2-amp-160k_ade20k-512x512",
]
BASE = """
norm_cfg = dict(type="SyncBN", requires_grad=True)
data_preprocessor = dict(type="SegDataPreProcessor", mean=[100.0, 110.0, 120.0], std=[50.0, 60.0, 70.0],
                         bgr_to_rgb=True, pad_val=0, seg_pad_val=255, size=(64, 64))
model = dict(
    type="EncoderDecoder",
    data_preprocessor=data_preprocessor,
    pretrained="open-mmlab://resnet18_v1c",
    backbone=dict(type="ResNetV1c", depth=18, base_channels=8, stem_channels=8, num_stages=4, out_indices=(2, 3),
                  dilations=(1, 1, 2, 4), strides=(1, 2, 1, 1), norm_cfg=norm_cfg, style="pytorch",
                  init_cfg=dict(type="Pretrained", checkpoint="https://nowhere.org/a.pth")),
    decode_head=dict(type="FCNHead", in_channels=64, in_index=1, channels=8, num_convs=1, num_classes=5,
                     norm_cfg=norm_cfg, align_corners=True, loss_decode=dict(type="CrossEntropyLoss")),
    auxiliary_head=dict(type="FCNHead", in_channels=32, in_index=0, channels=8, num_convs=1, num_classes=5,
                        norm_cfg=norm_cfg, align_corners=True, loss_decode=dict(type="CrossEntropyLoss")),
    train_cfg=dict(), test_cfg=dict(mode="whole"))
"""
SLIDING = '_base_ = "base.py"\nmodel = dict(test_cfg=dict(mode="slide", crop_size=(48, 40), stride=(30, 25)))\n'
PADDED = """
_base_ = "base.py"
model = dict(data_preprocessor=dict(bgr_to_rgb=False, test_cfg=dict(size_divisor=32)))
"""
BINARY = """
_base_ = "base.py"
model = dict(decode_head=dict(num_classes=2, out_channels=1, threshold=0.3,
                              loss_decode=dict(type="CrossEntropyLoss", use_sigmoid=True)))
"""

CRISS_CROSS = """
model = dict(decode_head=dict(_delete_=True, type="CCHead", in_channels=64, in_index=1, channels=8, recurrence=2,
                              num_classes=5, loss_decode=dict(type="CrossEntropyLoss")))
"""


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """A folder of tiny configs."""
    files = {"base": BASE, "sliding": SLIDING, "padded": PADDED, "binary": BINARY}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def build(spec: str) -> nn.Module:
    """The segmentor as mmseg builds it, with random weights and statistics that keep its signal alive."""
    mmseg_adapter.import_mmseg()
    from mmengine.registry import DefaultScope
    from mmseg.registry import MODELS

    config = models.models.build(spec)._read().model
    config.pretrained = config.backbone.init_cfg = None
    with DefaultScope.overwrite_default_scope("mmseg"):
        torch.manual_seed(0)
        network: nn.Module = MODELS.build(config)
    for name, tensor in network.state_dict().items():
        if tensor.is_floating_point() and tensor.ndim < 2:
            low = 0.5 if "var" in name else -0.5
            tensor.copy_(torch.empty_like(tensor).uniform_(low, 1.0))
    return network.eval()


def theirs(network: Any, images: Tensor) -> Tensor:
    """Through mmseg's own preprocessor and inference: BGR in 0..255 goes in, and padding is cut off."""
    from mmseg.structures import SegDataSample

    sizes = dict.fromkeys(("ori_shape", "img_shape", "pad_shape"), tuple(images.shape[-2:]))
    samples = [SegDataSample(metainfo={**sizes, "padding_size": [0] * 4}) for _ in images]
    data = {"inputs": list(255 * images.flip(1)), "data_samples": samples}
    ready = network.data_preprocessor(data, False)
    with torch.no_grad():
        logits: Tensor = network.inference(ready["inputs"], [sample.metainfo for sample in ready["data_samples"]])
    return logits[..., : images.shape[-2], : images.shape[-1]]


def save(network: nn.Module, path: Path) -> None:
    """A checkpoint as mmengine's runner writes it."""
    from mmengine.logging import HistoryBuffer

    history = HistoryBuffer([0.5, 0.25], [1, 1])
    meta = {"dataset_meta": {"classes": ("road",), "palette": [[0, 0, 0]]}, "seed": np.int64(3), "cfg": "model = 1"}
    torch.save({"meta": meta, "state_dict": network.state_dict(), "message_hub": {"loss": history}}, path)


def check_parity(spec: str, folder: Path, height: int, width: int) -> Tensor:
    """Equal logits to 1e-4 of the largest, and a gradient; returns the logits."""
    network = build(spec)
    save(network, folder / "released.pth")
    segmenter = models.load(f"{spec}?weights={folder}/released.pth")
    images = torch.rand(2, 3, height, width, generator=torch.Generator().manual_seed(0)).requires_grad_()
    expected, logits = theirs(network, images.detach()), segmenter(images)
    if expected.shape[1] == 1:
        return logits
    assert expected.std() > 1e-4
    assert (logits - expected).abs().max() <= 1e-4 * expected.abs().max()
    (gradient,) = torch.autograd.grad(logits.square().sum(), images)
    assert gradient.isfinite().all()
    assert gradient.flatten(1).any(1).all()
    return logits


@pytest.mark.parametrize("name", ["base", "sliding", "padded"])
def test_parity_of_tiny_networks(configs: Path, name: str) -> None:
    logits = check_parity(f"mmseg:{configs}/{name}.py", configs, 64 if name != "padded" else 60, 70)
    assert logits.shape[1] == 5


def test_parity_by_config_name(tmp_path: Path) -> None:
    assert check_parity(f"mmseg:{SEGFORMER}", tmp_path, 64, 96).shape == (2, 150, 64, 96)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_parity_of_the_papers_networks(tmp_path: Path, name: str) -> None:
    if "convnext" in name:
        pytest.importorskip("mmpretrain")
    check_parity(f"mmseg:{name}", tmp_path, 128, 128)


def test_a_binary_head_decides_at_its_threshold(configs: Path) -> None:
    spec = f"mmseg:{configs}/binary.py"
    logits = check_parity(spec, configs, 64, 70)
    images = torch.rand(2, 3, 64, 70, generator=torch.Generator().manual_seed(0))
    expected = theirs(build(spec), images).sigmoid() > 0.3
    assert expected.float().mean() not in (0, 1)
    assert torch.equal(logits.argmax(1), expected[:, 0].long())


def test_classes_label_and_code(configs: Path) -> None:
    chosen = models.models.build(f"mmseg:{configs}/sliding.py?classes=7")
    assert models.load(chosen)(torch.rand(1, 3, 64, 64)).shape == (1, 7, 64, 64)
    assert chosen.label == "sliding"
    assert [path.name for path in chosen.sources()] == ["sliding.py", "base.py"]
    assert chosen.interface().window == (48, 40)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('custom_imports = dict(imports=["nowhere_to_be_found"])', "imports what cannot be imported.*nowhere_to_be"),
        (CRISS_CROSS, "needs 'CrissCrossAttention' of the full mmcv"),
        ("model = dict(decode_head=dict(type='Mask2FormerHead'))", "Mask2FormerHead needs mmdet"),
        ("model = dict(type='DepthEstimator')", "segmentor DepthEstimator is not supported"),
        ("model = dict(backbone=dict(type='ResNett'))", "cannot be built: .*ResNett is not in the"),
        ("model = dict(data_preprocessor=dict(test_cfg=dict(size=(64, 64))))", "only size_divisor is known"),
        ("model = dict(", "cannot be read"),
    ],
)
def test_what_cannot_be_run_is_said(configs: Path, text: str, fault: str) -> None:
    (configs / "mine.py").write_text(f'_base_ = "base.py"\n{text}\n')
    with pytest.raises(BadInput, match=fault):
        models.load(f"mmseg:{configs}/mine.py")


def test_names_and_files_that_are_not_there(configs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        BadInput, match=r"unknown mmseg config 'segformer_mit-b0.*'; did you mean 'segformer_mit-b0_8xb2"
    ):
        models.load("mmseg:segformer_mit-b0_8xb2-160k_ade20k-512x51")
    with pytest.raises(BadInput, match="does not exist"):
        models.load(f"mmseg:{configs}/absent.py")
    monkeypatch.setitem(sys.modules, "mmseg", None)
    with pytest.raises(BadInput, match=r"needs mmseg, which is not installed: pip install 'segstress\[mmseg\]'"):
        models.load(f"mmseg:{configs}/base.py")


def test_weights_of_another_network_name_both_sides(configs: Path) -> None:
    save(nn.Sequential(nn.Linear(2, 2)), configs / "other.pth")
    with pytest.raises(BadInput, match=r"The file has 0\.weight, 0\.bias; the network wants backbone\.stem\.0\.weight"):
        models.load(f"mmseg:{configs}/base.py?weights={configs}/other.pth")
