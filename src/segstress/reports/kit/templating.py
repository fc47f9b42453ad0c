"""Templates filled in: the one place that knows where they lie and how their cells are written."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .export import show
from .naming import percent, plural
from .table import Cell, value_of


def render(template: str, **values: Any) -> str:
    """Fill in a template; a value that it wants and does not get is an error."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(show=show, percent=percent, plural=plural, plain=_plain)
    return environment.get_template(template).render(**values)


def _plain(cell: Cell) -> str:
    """Write what a cell is sorted by; nothing where there is no value."""
    value = value_of(cell)
    return "" if isinstance(value, float) and not math.isfinite(value) else str(value)
