"""Segmentation networks of transformers, from a local folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from ..core import BadInput, settings
from .frameworks import framework
from .interface import Interface
from .model import Model, first_line, models, readable

MASKED = ("maskformer", "mask2former")  # model types that answer by masks with a class each


@models.register("hf")
@settings
class HuggingFace(Model):
    """A network saved by transformers: `hf:folder`, or `hf:folder/config.json` for its untrained architecture."""

    positional: ClassVar = "path"
    path: Path

    @property
    def label(self) -> str:
        """The name of the folder."""
        return readable(self._folder().name)

    def known(self) -> Interface:
        """Normalisation as the folder's preprocessor says; logits are made larger inside the graph."""
        file = self._folder() / "preprocessor_config.json"
        rules = json.loads(file.read_text()) if file.is_file() else {}
        normalised = {"mean": rules["image_mean"], "std": rules["image_std"]} if rules.get("do_normalize") else {}
        factor = rules.get("rescale_factor", 1 / 255) if rules.get("do_rescale", True) else 1
        scale = round(255 * factor, 9)  # their images are 0..255, ours 0..1
        bgr = bool(rules.get("do_flip_channel_order"))
        return Interface(upsample="bilinear", bgr=bgr, scale=scale, **normalised)

    def network(self) -> nn.Module:
        """The network; one that answers by masks gives per-pixel scores instead."""
        if not (self._folder() / "config.json").is_file():
            raise BadInput(f"'{self.path}': expected a folder of transformers with config.json, or that file")
        with framework("hf"):
            from transformers import AutoConfig, AutoModelForSemanticSegmentation, AutoModelForUniversalSegmentation
        config = AutoConfig.from_pretrained(self._folder(), local_files_only=True)
        masked = config.model_type in MASKED
        maker: Any = AutoModelForUniversalSegmentation if masked else AutoModelForSemanticSegmentation
        network: nn.Module = maker.from_config(config) if self.path.is_file() else self._load(maker)
        return Masked(network) if masked else network

    def _load(self, maker: Any) -> nn.Module:
        network: nn.Module
        try:
            network, report = maker.from_pretrained(self.path, local_files_only=True, output_loading_info=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise BadInput(f"'{self.path}' cannot be loaded: {first_line(error)}") from error
        if report["missing_keys"]:
            missing = sorted(report["missing_keys"])
            raise BadInput(f"'{self.path}' lacks weights: {', '.join(missing[:3])} ({len(missing)})")
        return network

    def _folder(self) -> Path:
        return self.path.parent if self.path.name == "config.json" else self.path


class Masked(nn.Module):
    """Per-pixel scores of a network that answers by masks (MaskFormer, arXiv:2107.06278; Mask2Former, 2112.01527)."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Logarithm of the summed class probability of all masks on a pixel; the last class stands for no object."""
        answer = self.network(pixel_values=images)
        classes = answer.class_queries_logits.softmax(-1)[..., :-1]
        scores = torch.einsum("bqk,bqhw->bkhw", classes, answer.masks_queries_logits.sigmoid())
        scores = functional.interpolate(scores, size=images.shape[-2:], mode="bilinear", align_corners=False)
        return (scores + 1e-12).log()  # a pixel without any mask keeps a finite logit
