"""From YAML to checked settings, with one clear line for what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pydantic
import yaml

from ..core import BadInput

S = TypeVar("S")


def read_yaml(text: str, name: str) -> dict[str, Any]:
    """A YAML mapping."""
    try:
        plain = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadInput(f"{name} is not valid YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(plain, dict):
        raise BadInput(f"{name}: expected a mapping, found {type(plain).__name__}")
    return plain


def read_file(path: Path, advice: str) -> dict[str, Any]:
    """A YAML mapping from a file."""
    try:
        return read_yaml(path.read_text(), str(path))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; {advice}") from error


def checked(cls: type[S], plain: Mapping[str, Any], name: str) -> S:
    """Settings of this class, or the first fault in one line."""
    try:
        return cls(**plain)
    except pydantic.ValidationError as error:
        fault = error.errors()[0]
        setting = ".".join(map(str, fault["loc"]))
        given = "" if fault["type"] == "missing" else f", found {fault['input']!r}"
        raise BadInput(f"{name}: {setting}: {fault['msg'].removeprefix('Value error, ')}{given}") from error
