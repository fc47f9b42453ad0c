"""Models by name: settings that make a network, and the loading that makes it ready to be stressed."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import torch
from torch import nn

from ..core import BadInput, Registry, Spec, digest, settings
from .interface import Interface
from .segmenter import Segmenter


@settings
class Model(Interface, ABC):
    """Settings of a model; what its user says of the interface goes before what the network says of itself."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Its name in tables and folders."""

    @abstractmethod
    def network(self) -> nn.Module:
        """The bare network with its weights, ready to be trained further."""

    def known(self) -> Interface:
        """What is known of the network's interface without being told."""
        return Interface()

    def sources(self) -> tuple[Path, ...]:
        """Files of code that the model depends on."""
        return ()

    def interface(self) -> Interface:
        """The network's own interface with the user's changes; a default that is repeated changes nothing."""
        fields = dataclasses.fields(Interface)
        told = {field.name: getattr(self, field.name) for field in fields}
        changes = {field.name: told[field.name] for field in fields if told[field.name] != field.default}
        return dataclasses.replace(self.known(), **changes)


models: Registry[Model] = Registry("model")


def load(model: Spec | Model) -> Segmenter:
    """The model ready to be stressed: weights loaded, parameters frozen, in eval mode."""
    chosen = build(model)
    network = chosen.network()
    return Segmenter(network, chosen.interface()).requires_grad_(False).eval()


def ready(model: Spec | Model, device: str, dtype: torch.dtype) -> tuple[Segmenter, str]:
    """A model on its device, and its fingerprint; the last two are remembered, until `forget` is called."""
    return _ready(json.dumps(models.spec(build(model)), sort_keys=True), device, dtype)


@lru_cache(maxsize=2)
def _ready(spec: str, device: str, dtype: torch.dtype) -> tuple[Segmenter, str]:
    segmenter = load(json.loads(spec))
    weights = fingerprint(segmenter, json.loads(spec))  # before they are brought to another dtype
    return segmenter.to(device, dtype), weights


def forget() -> None:
    """Load models anew from here on: their files may have changed."""
    _ready.cache_clear()


def build(model: Spec | Model) -> Model:
    """Settings from a spec; settings stay what they are."""
    return models.build(model) if isinstance(model, str | Mapping) else model


def fingerprint(segmenter: Segmenter, model: Spec | Model) -> str:
    """Hash of all that decides what the model answers: its tensors, its settings and the code it names."""
    chosen = build(model)
    hashed = hashlib.blake2b(digest(models.spec(chosen)).encode(), digest_size=32)
    for name, tensor in sorted(segmenter.state_dict().items()):
        hashed.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        hashed.update(tensor.cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    for path in chosen.sources():
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:12]


def first_line(error: Exception) -> str:
    """What an error says before it goes into detail."""
    return str(error).partition("\n")[0]


def readable(name: str) -> str:
    """A label that is also a folder's name."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.") or "model"


def check_known(noun: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not known, with the nearest one that is."""
    names = sorted(known)
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(names)}"
        raise BadInput(f"unknown {noun} '{name}'; {hint}")
