"""A paper's competition, on a pool and between models of the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ..core import Spec
from ..data import datasets
from .plan import Contest, read_contest


def contest_of(protocol: Mapping[str, Any], pool: Spec, models: Sequence[str], changes: Mapping[str, Any]) -> Contest:
    """Return the competition that a protocol asks for."""
    return read_contest({**protocol, "pool": completed(pool, protocol["pool"]), "models": list(models)}, changes)


def completed(pool: Spec, usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pool's spec with the protocol's settings where it has such settings and does not say them itself."""
    said = datasets.read(pool)
    kind = said["kind"]
    own = {field.name for field in fields(datasets.get(kind))} - datasets.fixed(kind).keys() - said.keys()
    filled = said | {name: value for name, value in usual.items() if name in own and name != "background"}
    data = datasets.build(filled)
    if "background" in own and list(data.classes) == usual["classes"]:  # it numbers one of the protocol's classes
        data = datasets.build(filled | {"background": usual["background"]})
    return datasets.spec(data)
