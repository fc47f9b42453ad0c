"""The columns by which tables of localized damage tell their rows apart."""

from __future__ import annotations

from ...results.local import LocalResult
from ..kit.table import Cell, Column

KEYS = (
    Column("model", "Model"),
    Column("data", "Data"),
    Column("perturbation", "Perturbation"),
    Column("severity", "Severity or eps"),
    Column("steps", "Steps", "count"),
    Column("region", "Region"),
    Column("goal", "Goal"),
)


def keys_of(result: LocalResult) -> tuple[Cell, ...]:
    """Return what stands below them."""
    return result.model, result.data, result.what, result.strength, result.steps, result.where, result.goal
