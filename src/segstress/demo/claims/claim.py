"""The form of a claim; its name gives its place on the page, its docstring the words."""

from __future__ import annotations

from typing import Protocol

from ...core import Registry
from ...reports.findings.page import Answer
from .evidence import Evidence, Need


class Claim(Protocol):
    """What papers say of models, to be held against the zoo's."""

    needs: tuple[Need, ...]

    def answer(self, evidence: Evidence) -> Answer:
        """Return what the runs show, whichever way it came out."""
        ...


claims: Registry[Claim] = Registry("claim")
