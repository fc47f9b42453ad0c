"""A training as its page shows it: every epoch, the plan, the card and a few samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...results.study import Frame

CLEAN = "clean"


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """What a training left behind."""

    title: str
    history: Sequence[Mapping[str, Any]]  # epoch, loss, accuracy and, at some of them, validation: look -> figures
    plan: Mapping[str, Any]
    card: Mapping[str, Any]  # of the last model
    frames: Sequence[Frame]  # validation images, before and after the attack of `look`
    classes: Sequence[str]
    palette: tuple[tuple[int, int, int], ...]
    epochs: int  # asked for
    weights: str  # hash of the last model's file

    @cached_property
    def looks(self) -> list[str]:
        """How validation looked: clean, and under the probe where there is one."""
        return list(dict.fromkeys(look for entry in self.history for look in entry.get("validation", {})))

    def at(self, look: str, figure: str) -> dict[int, float]:
        """Return a figure of validation by epoch."""
        validated = (entry for entry in self.history if look in entry.get("validation", {}))
        return {entry["epoch"]: entry["validation"][look][figure] for entry in validated}

    @property
    def figures(self) -> list[str]:
        """The figures that validation has."""
        figures = (figure for entry in self.history for look in entry.get("validation", {}).values() for figure in look)
        return list(dict.fromkeys(figures))

    @property
    def done(self) -> int:
        """Epochs that are done."""
        return len(self.history)
