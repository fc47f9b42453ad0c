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
from typing import Any, ClassVar

import torch
from torch import nn

from ..core import BadInput, Registry, Spec, digest, settings
from ..core.remote import AnyPath, local_copy
from .functions import source_file
from .interface import Interface
from .legend import Legend
from .segmenter import Segmenter

LATER = {  # settings that were added when there were runs already, with what they are when they are not used
    "mirror": False,
    "average": "logits",
    "long_side": None,
    "preprocess": "",
    "transforms": "",
    "auxiliary": False,
}


@settings
class Model(Interface, ABC):
    """Settings of a model; what its user says of the interface goes before what the network says of itself."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Its name in tables and folders."""

    @abstractmethod
    def network(self) -> nn.Module:
        """Make the bare network with its weights, ready to be trained further."""

    def known(self) -> Interface:
        """Return what is known of the network's interface without being told."""
        return Interface()

    def legend(self) -> Legend | None:
        """Return the classes by name where the model's files tell them; nothing is guessed."""
        return None

    def sources(self) -> tuple[Path, ...]:
        """Return the files of code that the network depends on."""
        return ()

    def files(self) -> tuple[Path, ...]:
        """Return all files of code that the model depends on, that of its preprocessing among them."""
        preprocess = self.interface().preprocess
        return (*self.sources(), *((source_file("preprocess", preprocess),) if preprocess else ()))

    def interface(self) -> Interface:
        """Return the network's own interface with the user's changes; a default that is repeated changes nothing."""
        fields = dataclasses.fields(Interface)
        given = {field.name: getattr(self, field.name) for field in fields}
        changes = {field.name: given[field.name] for field in fields if given[field.name] != field.default}
        return dataclasses.replace(self.known(), **changes)


@settings
class FileModel(Model):
    """A model that one file holds: `kind:path`, called by the file's name."""

    positional: ClassVar = "path"
    path: AnyPath

    @property
    def label(self) -> str:
        """The name of the file."""
        return readable(self.path.stem)

    @property
    def file(self) -> Path:
        """The file on this machine; a copy of one that lies elsewhere."""
        return local_copy(self.path)


models: Registry[Model] = Registry("model")


def load(model: Spec | Model) -> Segmenter:
    """Load a model ready to be stressed: with its weights, parameters frozen, in eval mode."""
    named = build(model)
    network = named.network()
    return Segmenter(network, named.interface()).requires_grad_(False).eval()


def ready(model: Spec | Model, device: str, dtype: torch.dtype) -> tuple[Segmenter, str]:
    """Load a model onto its device, with its fingerprint; the last two are remembered until `forget` is called."""
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
    """Build settings from a spec; settings stay what they are."""
    return models.build(model) if isinstance(model, str | Mapping) else model


def fingerprint(segmenter: Segmenter, model: Spec | Model) -> str:
    """Hash all that decides what the model answers: its tensors, its settings and the code it names."""
    named = build(model)
    hashed = hashlib.blake2b(digest(_identity(models.spec(named))).encode(), digest_size=32)
    for name, tensor in sorted(segmenter.state_dict().items()):
        hashed.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        hashed.update(tensor.cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    for path in named.files():
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:12]


def _identity(plain: Any) -> Any:
    """Leave out settings that came later and are not used, so that results of earlier versions still hold."""
    if isinstance(plain, Mapping):
        used = {key: value for key, value in plain.items() if key not in LATER or value != LATER[key]}
        return {key: _identity(value) for key, value in used.items()}
    return [_identity(value) for value in plain] if isinstance(plain, list) else plain


def first_line(error: Exception) -> str:
    """Return what an error says before it goes into detail."""
    return str(error).partition("\n")[0]


def readable(name: str) -> str:
    """Turn a name into a label that is also a folder's name."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.") or "model"


def check_known(noun: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not known, with the nearest one that is."""
    names = sorted(known)
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(names)}"
        raise BadInput(f"unknown {noun} '{name}'; {hint}")
