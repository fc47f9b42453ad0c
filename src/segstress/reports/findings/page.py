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
from ..kit.table import Column, Table
from ..kit.verdict import Point


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
    def held(self) -> float:
        """Share of the checks that hold; 0 without any."""
        return sum(check.holds for check in self.checks) / len(self.checks) if self.checks else 0.0

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


def headline(findings: Sequence[Finding]) -> str:
    """Say in one sentence how many claims are seen."""
    held = [finding.answer.held for finding in findings]
    seen, none = sum(share == 1 for share in held), sum(share == 0 for share in held)
    return f"Of {len(held)} claims {seen} are seen here, {len(held) - seen - none} in part, {none} not."


def overview(findings: Sequence[Finding]) -> Table:
    """List the claims with their verdicts; each leads to its part of the page."""
    columns = (Column("claim", "Claim"), Column("verdict", "Here"), Column("held", "Checks that hold", "share"))
    rows = tuple((finding.claim, finding.answer.verdict, finding.answer.held) for finding in findings)
    links = {(line, 0): f"#{finding.name}" for line, finding in enumerate(findings)}
    return Table("claims", "Claims", columns, rows, links=links)


def every_check(findings: Sequence[Finding]) -> Table:
    """List what every claim asks, and what was measured."""
    columns = (*(Column(key, key.capitalize()) for key in ("claim", "asks", "measured")), Column("holds", "Holds"))
    rows = tuple(
        (finding.claim, check.asks, check.measured, "yes" if check.holds else "no")
        for finding in findings
        for check in finding.answer.checks
    )
    return Table("checks", "Every check", columns, rows, folded=True)


TABLES = {"claims": overview, "checks": every_check}


def write_findings(
    findings: Sequence[Finding], folder: Path, about: Sequence[str], pages: Mapping[str, str], title: str
) -> Path:
    """Write page, tables and figures; `pages` are the reports of the runs, by name. The path of the page."""

    def declare(files: PageFiles) -> dict[str, Any]:
        parts = [files.part(finding.name, finding.answer.tables, finding.answer.drawings) for finding in findings]
        return {
            "title": title,
            "headline": headline(findings),
            "points": [Point(f"Claim {n}", f.answer.verdict, f.answer.held == 1) for n, f in enumerate(findings, 1)],
            "about": about,
            "pages": pages,
            "overview": files.part("", files.make(Table, TABLES, findings)),
            "findings": list(zip(findings, parts, strict=True)),
        }

    return write_page(folder, "findings.html", declare)
