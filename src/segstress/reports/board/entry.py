"""What a board knows of one model under one threat, and of the run that says so."""

from __future__ import annotations

from dataclasses import dataclass

from ...results.study import Study
from ..study.assessment import Assessment


@dataclass(frozen=True, eq=False)
class BoardEntry:
    """A study with the places of its report and plan, below the board's folder."""

    assessment: Assessment
    run: str  # its name
    page: str
    plan: str
    command: str  # that makes it anew
    warnings: tuple[str, ...] = ()  # why it would be refused, where it was let in all the same

    @property
    def study(self) -> Study:
        """What was measured."""
        return self.assessment.study
