"""Tables and figures of one study by name: what a file registers here is in the page, as CSV and LaTeX, SVG and PDF.

    @tables.register("my-table")
    def my_table(assessment: Assessment) -> Table: ...

A function may return None where there is nothing to show. Its name is that of its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ...core import Registry
from ..kit.drawing import Drawing
from ..kit.table import Table
from .assessment import Assessment

tables: Registry[Callable[[Assessment], Table | None]] = Registry("table")
drawings: Registry[Callable[[Assessment], Drawing | None]] = Registry("figure")

Made = TypeVar("Made", Table, Drawing)


def makers(registry: Registry[Callable[[Assessment], Made | None]]) -> dict[str, Callable[[Assessment], Made | None]]:
    """Return every function of a registry in the order of registration; what it makes bears its registered name."""
    return {name: _named(name, registry.get(name)) for name in registry.declared()}


def _named(name: str, make: Callable[[Assessment], Made | None]) -> Callable[[Assessment], Made | None]:
    def made(assessment: Assessment) -> Made | None:
        item = make(assessment)
        return None if item is None else replace(item, name=name)

    return made
