"""What the doctor says: one reason to doubt an evaluation, and all those of one model on one dataset."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    """One reason to doubt an evaluation."""

    name: str
    seen: str  # what was seen
    matters: str  # why that matters
    advice: str  # what to do

    def __str__(self) -> str:
        return f"{self.seen}; {self.matters}: {self.advice}"


@dataclass(frozen=True)
class Diagnosis:
    """The flags of one model on one dataset, the cause before what follows from it."""

    model: str  # labels, as in tables
    data: str
    flags: tuple[Flag, ...]
    checked: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    passes: int = 0  # forward passes of an image that the checks took

    def lines(self) -> list[str]:
        """Return each flag in one line."""
        return [f"model {self.model} on {self.data}: {flag}" for flag in self.flags]
