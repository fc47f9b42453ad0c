"""Segmentation networks of transformers, from a local folder or the offline cache of the hub."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from ..core import BadInput, settings
from .frameworks import framework
from .heads import tell_heads
from .interface import Interface
from .legend import Legend
from .loading import Loaded, remember
from .model import Model, first_line, models, readable

MASKED = (
    "maskformer",
    "mask2former",
    "oneformer",
    "eomt",
    "eomt_dinov3",
)  # model types that answer by masks with a class each
RULES = ("preprocessor_config.json", "processor_config.json")  # where transformers keep how images go in
VOCABULARIES = ("tokenizer.json", "vocab.json")
HEADS = ("decode_head", "segmentation_head", "head", "auxiliary_head")  # as its networks call those they have
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


@models.register("hf")
@settings
class HuggingFace(Model):
    """A network of transformers: `hf:folder`, `hf:owner/name` from the offline cache, `hf:folder/config.json` bare."""

    positional: ClassVar = "path"
    path: Path  # a folder, a name on the hub that was downloaded before, or a config.json for untrained weights
    revision: str = "main"  # of a name on the hub

    @property
    def label(self) -> str:
        """The name of the folder."""
        return readable((self.path.parent if self._bare() else self.path).name)

    def known(self) -> Interface:
        """Read the normalisation from the folder's preprocessor; logits are made larger inside the graph."""
        rules = self._rules()
        normalise = rules.get("do_normalize", "image_mean" in rules)
        normalised = {"mean": rules["image_mean"], "std": rules["image_std"]} if normalise else {}
        factor = rules.get("rescale_factor", 1 / 255) if rules.get("do_rescale", True) else 1
        scale = round(255 * factor, 9)  # their images are 0..255, ours 0..1
        bgr = bool(rules.get("do_flip_channel_order"))
        return Interface(upsample="bilinear", bgr=bgr, scale=scale, **normalised)

    def legend(self) -> Legend | None:
        """Read the names of the classes from config.json; LABEL_0 is no name."""
        file = self._folder() / "config.json"
        labels = json.loads(file.read_text()).get("id2label", {}) if file.is_file() else {}
        names = tuple(str(labels[key]) for key in sorted(labels, key=int))
        return None if all(map(re.compile(r"LABEL_\d+").fullmatch, names)) else Legend(names)

    def _rules(self) -> dict[str, Any]:
        """Read how the preprocessor treats images; without one only the user can know."""
        folder = self._folder()
        for file in filter(Path.is_file, (folder / name for name in RULES)):
            rules: dict[str, Any] = json.loads(file.read_text())
            rules = rules.get("image_processor", rules)
            if file.name == RULES[0] or "do_normalize" in rules or "image_mean" in rules:
                return rules
        given = self.mean != (0,) and self.std != (1,)
        if not (given or self._bare()):
            raise BadInput(
                f"'{self.path}' has no {RULES[0]}, so its normalisation is unknown: "
                "set mean and std (mean=0,0,0&std=1,1,1 for none)"
            )
        return {}

    def network(self) -> nn.Module:
        """Load the network; one that answers by masks gives per-pixel scores instead."""
        folder = self._folder()
        if not (folder / "config.json").is_file():
            raise BadInput(
                f"'{self.path}': expected a folder of transformers with config.json, or that file, or owner/name"
            )
        with framework("hf"):
            from transformers import AutoConfig, AutoModelForSemanticSegmentation, AutoModelForUniversalSegmentation
        try:
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            masked = config.model_type in MASKED
            maker: Any = AutoModelForUniversalSegmentation if masked else AutoModelForSemanticSegmentation
            if config.model_type == "oneformer":
                config.is_training = False  # training wants a text for every image
            network: nn.Module = maker.from_config(config) if self._bare() else self._load(maker, folder, config)
        except (OSError, ValueError, RuntimeError) as error:
            raise BadInput(f"'{self.path}' cannot be loaded: {first_line(error)}") from error
        if not masked:
            return tell_heads(network, *HEADS, answer=_answer, auxiliary=HEADS[-1])
        return Masked(network, _task(folder, config.task_seq_len) if config.model_type == "oneformer" else None)

    def _load(self, maker: Any, folder: Path, config: Any) -> nn.Module:
        network: nn.Module
        network, report = maker.from_pretrained(folder, config=config, local_files_only=True, output_loading_info=True)
        if report["missing_keys"]:
            missing = sorted(report["missing_keys"])
            raise BadInput(f"'{self.path}' lacks weights: {', '.join(missing[:3])} ({len(missing)})")
        left_out = tuple(sorted(report["unexpected_keys"]))
        remember(network, Loaded(used=tuple(network.state_dict()), left_out=left_out, source=str(folder)))
        return network

    def _bare(self) -> bool:
        return self.path.name == "config.json"

    def _folder(self) -> Path:
        """Find where the files are; a name on the hub is looked up in the cache, and nothing is ever downloaded."""
        if self._bare():
            return self.path.parent
        name = self.path.as_posix()
        if self.path.exists() or not HUB_NAME.fullmatch(name):
            return self.path
        with framework("hf"):
            from huggingface_hub import snapshot_download
        try:
            return Path(snapshot_download(name, revision=self.revision, local_files_only=True))
        except (OSError, ValueError) as error:
            raise BadInput(
                f"'{name}' is neither a folder nor in the cache of the hub ({self.revision}); nothing is downloaded "
                f"during a run: hf download {name}"
            ) from error


def _task(folder: Path, length: int) -> Tensor:
    """Turn the words by which OneFormer is asked for semantic segmentation into numbers."""
    from transformers import AutoTokenizer

    if not any((folder / name).is_file() for name in VOCABULARIES):  # transformers would make up an empty one
        raise BadInput(f"'{folder}': OneFormer is asked in words and needs its tokenizer in the folder")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    tokens = tokenizer(["the task is semantic"], padding="max_length", max_length=length, truncation=True)
    return torch.tensor(tokens["attention_mask"]) * torch.tensor(tokens["input_ids"])


def _answer(output: Any) -> dict[str, Tensor]:
    return {"main": output.logits}


class Masked(nn.Module):
    """Per-pixel scores of a network that answers by masks (MaskFormer, arXiv:2107.06278; Mask2Former, 2112.01527)."""

    task: Tensor | None

    def __init__(self, network: nn.Module, task: Int[Tensor, "1 n"] | None = None) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("task", task)

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return the log of all masks' summed class probability on a pixel; the last class stands for no object."""
        task = {} if self.task is None else {"task_inputs": self.task.expand(len(images), -1)}
        answer = self.network(pixel_values=images, **task)
        classes = answer.class_queries_logits.softmax(-1)[..., :-1]
        scores = torch.einsum("bqk,bqhw->bkhw", classes, answer.masks_queries_logits.sigmoid())
        scores = functional.interpolate(scores, size=images.shape[-2:], mode="bilinear", align_corners=False)
        return (scores + 1e-12).log()  # a pixel without any mask keeps a finite logit
