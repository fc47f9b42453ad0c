"""Functions of the user's own: `file.py:function` or `module:function`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..core import BadInput, import_source


def find_function(setting: str, text: str) -> Callable[..., object]:
    """Import the function that a setting names."""
    source, name = _split(setting, text)
    function: object = getattr(import_source(source), name, None)
    if not callable(function):
        raise BadInput(f"{source} has no function '{name}'")
    return function


def source_file(setting: str, text: str) -> Path:
    """Return the file in which that function is."""
    return Path(str(import_source(_split(setting, text)[0]).__file__))


def _split(setting: str, text: str) -> tuple[str, str]:
    source, _, name = text.rpartition(":")
    if not source:
        raise BadInput(f"{setting} '{text}': expected file.py:function or module:function")
    return source, name
