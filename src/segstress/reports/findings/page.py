"""Claims beside what was measured: the page of a demonstration, with its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...metrics.intervals import Interval
from ..kit.drawing import Drawing
from ..kit.naming import percent
from ..kit.page import PageFiles, write_page
from ..kit.table import Table


def span(share: Interval) -> str:
    """Write a share with its interval, in percent: `12.3 (11.0 to 13.9)`."""
    return f"{percent(share.value)} ({percent(share.low)} to {percent(share.high)})"


@dataclass(frozen=True)
class Check:
    """One thing that must be so if the claim is to be seen, and what was measured."""

    asks: str
    measured: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Answer:
    """What the runs say of a claim."""

    checks: tuple[Check, ...]
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...]

    @property
    def verdict(self) -> str:
        """In words, from the checks alone."""
        held = sum(check.holds for check in self.checks)
        if 0 < held < len(self.checks):
            return f"seen in part: {held} of {len(self.checks)} checks hold"
        return "seen" if held else "not seen"


@dataclass(frozen=True, eq=False)
class Finding:
    """A claim and its answer."""

    name: str  # of its files, and its anchor
    claim: str
    answer: Answer


def write_findings(
    findings: Sequence[Finding], folder: Path, about: Sequence[str], pages: Mapping[str, str], title: str
) -> Path:
    """Write page, tables and figures; `pages` are the reports of the runs, by name. The path of the page."""

    def declare(files: PageFiles) -> dict[str, Any]:
        parts = [files.part(finding.name, finding.answer.tables, finding.answer.drawings) for finding in findings]
        return {"title": title, "about": about, "pages": pages, "findings": list(zip(findings, parts, strict=True))}

    return write_page(folder, "findings.html", declare)
