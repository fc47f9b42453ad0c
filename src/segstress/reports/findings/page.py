"""Claims beside what was measured: the page of a demonstration, with its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from ...core import BadInput
from ...metrics.intervals import Interval
from ..kit.drawing import Drawing
from ..kit.export import to_csv, to_latex
from ..kit.naming import percent
from ..kit.table import Table
from ..kit.templating import render

LISTED = 100  # rows of a table in the page; its files have all


def span(found: Interval) -> str:
    """A share with its interval, in percent: `12.3 (11.0 to 13.9)`."""
    return f"{percent(found.value)} ({percent(found.low)} to {percent(found.high)})"


@dataclass(frozen=True)
class Check:
    """One thing that must be so if the claim is to be seen, and what was measured."""

    asks: str
    found: str
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

    def svg(self, drawing: Drawing) -> Markup:
        """A figure for the page."""
        return Markup(drawing.inline(f"{self.name}-{drawing.name}"))  # drawn by us, its text escaped by matplotlib


def write_findings(
    findings: Sequence[Finding], folder: Path, about: Sequence[str], pages: Mapping[str, str], title: str
) -> Path:
    """Write page, tables and figures; `pages` are the reports of the runs, by name. The path of the page."""
    try:
        for part in ("tables", "figures"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        for finding in findings:
            _write_files(finding, folder)
        index = folder / "index.html"
        text = render(
            "findings.html", findings=findings, about=about, pages=pages, title=title, listed=LISTED, hidden={}
        )
        index.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"cannot write the findings into {folder}: {error.strerror or error}; make room or choose another folder"
        ) from error
    return index


def _write_files(finding: Finding, folder: Path) -> None:
    for table in finding.answer.tables:
        for suffix, text in (("csv", to_csv(table)), ("tex", to_latex(table))):
            (folder / "tables" / f"{finding.name}-{table.name}.{suffix}").write_text(text, encoding="utf-8")
    for drawing in finding.answer.drawings:
        for suffix, data in (("svg", drawing.svg), ("pdf", drawing.pdf)):
            (folder / "figures" / f"{finding.name}-{drawing.name}.{suffix}").write_bytes(data)
