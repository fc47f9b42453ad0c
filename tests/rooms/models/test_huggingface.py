"""Networks of transformers: tiny, untrained, from folders and from a cache made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from segstress import models
from segstress.core import BadInput
from segstress.models.frameworks import declare_operators

declare_operators()  # for what these tests import themselves
IMAGES = torch.rand(2, 3, 65, 70, generator=torch.Generator().manual_seed(0))
UNCHANGED = "mean=0,0,0&std=1,1,1"


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


def maskformer(transformers: Any) -> Any:
    """Six queries and five classes."""
    stages = ["stage1", "stage2", "stage3", "stage4"]
    backbone = transformers.SwinConfig(
        image_size=64, embed_dim=8, depths=[1] * 4, num_heads=[1, 1, 2, 2], window_size=4, out_features=stages
    )
    decoder = transformers.DetrConfig(
        d_model=16, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=16, decoder_ffn_dim=16,
        encoder_attention_heads=2, decoder_attention_heads=2, num_queries=6,
    )  # fmt: skip
    config = transformers.MaskFormerConfig(
        backbone_config=backbone, decoder_config=decoder, fpn_feature_size=32, mask_feature_size=32, num_labels=5
    )
    return transformers.MaskFormerForInstanceSegmentation(config).eval()


def eomt(transformers: Any) -> Any:
    """Six queries and five classes on 64 x 64 images."""
    config = transformers.EomtConfig(
        hidden_size=16, num_hidden_layers=3, num_attention_heads=2, image_size=64, patch_size=16, num_queries=6,
        num_blocks=1, num_upscale_blocks=1, num_labels=5,
    )  # fmt: skip
    return transformers.EomtForUniversalSegmentation(config).eval()


@pytest.mark.parametrize(("make", "sides"), [(mask2former, (65, 70)), (maskformer, (65, 70)), (eomt, (64, 64))])
def test_networks_that_answer_by_masks_sum_them_on_every_pixel(tmp_path: Path, make: Any, sides: Any) -> None:
    network = make(pytest.importorskip("transformers"))
    network.save_pretrained(tmp_path)
    seen = IMAGES[..., : sides[0], : sides[1]]
    answer = network(seen)
    scores = torch.zeros(2, 5, *answer.masks_queries_logits.shape[-2:])
    for query in range(6):
        share = answer.class_queries_logits[:, query].softmax(-1)[:, :5, None, None]
        scores += share * answer.masks_queries_logits[:, query, None].sigmoid()
    expected = functional.interpolate(scores, size=sides, mode="bilinear", align_corners=False)
    images = seen.clone().requires_grad_()
    logits = models.load(f"hf:{tmp_path}?{UNCHANGED}")(images)
    torch.testing.assert_close(logits.exp(), expected, rtol=1e-4, atol=1e-6)
    (gradient,) = torch.autograd.grad(logits.sum(), images)
    assert gradient.isfinite().all()
    assert gradient.any()


def beit(transformers: Any) -> Any:
    """Four layers on 64 x 64 images."""
    config = transformers.BeitConfig(
        image_size=64, patch_size=8, hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=16,
        out_indices=[0, 1, 2, 3], use_auxiliary_head=True, pool_scales=[1, 2], use_relative_position_bias=True,
        num_labels=5,
    )  # fmt: skip
    return transformers.BeitForSemanticSegmentation(config).eval()


def dpt(transformers: Any) -> Any:
    """Four layers on 64 x 64 images."""
    config = transformers.DPTConfig(
        image_size=64, patch_size=16, hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=16,
        backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8] * 4, fusion_hidden_size=8, num_labels=5,
        is_hybrid=False,
    )  # fmt: skip
    return transformers.DPTForSemanticSegmentation(config).eval()


def upernet(transformers: Any) -> Any:
    """A tiny ConvNeXt below."""
    stages = ["stage1", "stage2", "stage3", "stage4"]
    backbone = transformers.ConvNextConfig(hidden_sizes=[8, 8, 8, 8], depths=[1] * 4, out_features=stages)
    config = transformers.UperNetConfig(
        backbone_config=backbone, hidden_size=8, pool_scales=[1, 2], auxiliary_in_channels=8, auxiliary_channels=8,
        num_labels=5,
    )  # fmt: skip
    return transformers.UperNetForSemanticSegmentation(config).eval()


@pytest.mark.parametrize("make", [beit, dpt, upernet])
def test_networks_that_answer_per_pixel(tmp_path: Path, make: Any) -> None:
    network = make(pytest.importorskip("transformers"))
    network.save_pretrained(tmp_path)
    images = IMAGES[..., :64, :64].clone().requires_grad_()
    expected = functional.interpolate(network(images).logits, size=(64, 64), mode="bilinear", align_corners=False)
    logits = models.load(f"hf:{tmp_path}?{UNCHANGED}")(images)
    torch.testing.assert_close(logits, expected)
    assert torch.autograd.grad(logits.square().sum(), images)[0].any()


def oneformer(transformers: Any, folder: Path) -> Any:
    """Six queries and five classes, and a tokenizer that knows the words of its task."""
    words = ["<|startoftext|>", "<|endoftext|>", *(f"{letter}{end}" for letter in "theaskimnc" for end in ("", "</w>"))]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    rules = {"tokenizer_class": "CLIPTokenizer", "model_max_length": 24}
    (folder / "tokenizer_config.json").write_text(json.dumps(rules))
    stages = ["stage1", "stage2", "stage3", "stage4"]
    backbone = transformers.SwinConfig(
        image_size=64, embed_dim=8, depths=[1] * 4, num_heads=[1, 1, 2, 2], window_size=4, out_features=stages
    )
    config = transformers.OneFormerConfig(
        backbone_config=backbone, hidden_dim=32, conv_dim=32, mask_dim=32, encoder_feedforward_dim=16, encoder_layers=1,
        decoder_layers=2, num_attention_heads=2, dim_feedforward=16, num_queries=6, num_labels=5, task_seq_len=24,
        query_dec_layers=1,
    )  # fmt: skip
    return transformers.OneFormerForUniversalSegmentation(config).eval()


def test_oneformer_is_asked_for_semantic_segmentation(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    network = oneformer(transformers, tmp_path)
    network.save_pretrained(tmp_path)
    segmenter = models.load(f"hf:{tmp_path}?{UNCHANGED}")
    told = transformers.CLIPTokenizer.from_pretrained(tmp_path)("the task is semantic")["input_ids"]
    task = torch.zeros(1, 24, dtype=torch.long)
    task[0, : len(told)] = torch.tensor(told)
    answer = network(IMAGES, task_inputs=task.expand(2, -1))
    shares = answer.class_queries_logits.softmax(-1)[..., :5]
    scores = torch.einsum("bqk,bqhw->bkhw", shares, answer.masks_queries_logits.sigmoid())
    expected = functional.interpolate(scores, size=(65, 70), mode="bilinear", align_corners=False)
    torch.testing.assert_close(segmenter(IMAGES).exp(), expected, rtol=1e-4, atol=1e-6)
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (tmp_path / name).unlink()
    with pytest.raises(BadInput, match="needs its tokenizer in the folder"):
        models.load(f"hf:{tmp_path}?{UNCHANGED}")


def test_without_a_preprocessor_the_user_must_say_how_images_go_in(tmp_path: Path) -> None:
    segformer(pytest.importorskip("transformers")).save_pretrained(tmp_path)
    with pytest.raises(BadInput, match=r"no preprocessor_config\.json.* set mean and std"):
        models.load(f"hf:{tmp_path}")
    with pytest.raises(BadInput, match="set mean and std"):
        models.load(f"hf:{tmp_path}?mean=0.5")
    assert models.load(f"hf:{tmp_path}?mean=0.5&std=0.25").interface.mean == (0.5,)
    nested = {"image_processor": {"do_normalize": True, "image_mean": [0.1] * 3, "image_std": [0.2] * 3}}
    (tmp_path / "processor_config.json").write_text(json.dumps(nested))
    assert models.load(f"hf:{tmp_path}").interface.std == (0.2, 0.2, 0.2)


def test_hub_names_come_from_the_offline_cache_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network: nn.Module = segformer(pytest.importorskip("transformers"))
    cache = tmp_path / "models--someone--segformer-tiny"
    snapshot = cache / "snapshots" / "0123456789abcdef0123456789abcdef01234567"
    network.save_pretrained(snapshot)  # type: ignore[operator]
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(snapshot.name)
    (snapshot / "preprocessor_config.json").write_text(json.dumps({"do_normalize": False}))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    chosen = models.models.build("hf:someone/segformer-tiny")
    assert chosen.label == "segformer-tiny"
    assert models.load(chosen)(IMAGES).shape == (2, 5, 65, 70)
    with pytest.raises(BadInput, match=r"neither a folder nor in the cache of the hub.*hf download someone/else"):
        models.load("hf:someone/else")


def test_a_model_type_without_semantic_outputs_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("transformers").ViTConfig(hidden_size=8).save_pretrained(tmp_path)
    with pytest.raises(BadInput, match=r"cannot be loaded: Unrecognized configuration class.*ViTConfig"):
        models.load(f"hf:{tmp_path}?{UNCHANGED}")
