"""From YAML to checked settings, with one clear line for what is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from ..core import BadInput
from ..core.files import read_bounded
from ..core.registry import suggest
from ..core.yaml_text import parse_yaml

LARGEST = 1_000_000  # bytes of a plan
S = TypeVar("S")


def read_yaml(text: str, name: str) -> dict[str, Any]:
    """Read a YAML mapping."""
    plain = parse_yaml(text, name)
    if not isinstance(plain, dict):
        raise BadInput(f"{name}: expected a mapping, found {type(plain).__name__}")
    return plain


def read_file(path: Path, advice: str) -> dict[str, Any]:
    """Read a YAML mapping from a file."""
    if not path.exists():
        raise BadInput(f"{path} cannot be read: there is no such file; {advice}")
    try:
        return read_yaml(read_bounded(path, LARGEST).decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no text in UTF-8; {advice}") from error


def changed(plain: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked with changes to it: numerics one by one, plug-ins beside those that are there."""
    merged = {**plain, **changes}
    numerics, plugins = plain.get("numerics"), plain.get("plugins")
    if isinstance(numerics, Mapping) and "numerics" in changes:
        merged["numerics"] = {**numerics, **changes["numerics"]}
    if isinstance(plugins, list) and "plugins" in changes:
        merged["plugins"] = list(dict.fromkeys([*plugins, *changes["plugins"]]))
    return merged


def checked(cls: type[S], plain: Mapping[str, Any], name: str, lines: Mapping[str, int] | None = None) -> S:
    """Build settings of this class, or raise the first fault in one line."""
    try:
        return cls(**{str(key): value for key, value in plain.items()})
    except pydantic.ValidationError as error:
        fault = error.errors()[0]
        setting = ".".join(map(str, fault["loc"]))
        known = getattr(plain, "lines", {}) if lines is None else lines
        line = known.get(str(fault["loc"][0])) if fault["loc"] else None
        name = f"{name}, line {line}" if line else name
        if fault["type"] == "unexpected_keyword_argument" and len(fault["loc"]) == 1:
            raise BadInput(f"{name}: unknown key '{setting}'; {suggest(setting, _fields(cls))}") from error
        words = fault["msg"].removeprefix("Value error, ")
        if not setting:  # what the settings say of themselves names what it objects to
            raise BadInput(f"{name}: {words}") from error
        given = "" if fault["type"] == "missing" else f", found {fault['input']!r}"
        raise BadInput(f"{name}: {setting}: {words}{given}") from error


def _fields(cls: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)]
