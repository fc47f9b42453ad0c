"""The page of claims: verdicts are counted from checks, and lead to what was measured."""

from __future__ import annotations

import csv
from pathlib import Path

from segstress.reports.findings.page import Answer, Check, Finding, headline, write_findings
from segstress.reports.kit import Column, Drawing, Table, canvas


def finding(name: str, *holds: bool) -> Finding:
    checks = tuple(Check(f"asks {number}", "12.3 <of> 15", held) for number, held in enumerate(holds))
    table = Table("figures", "Figures", (Column("model", "Model"), Column("share", "Right", "share")), (("m", 0.5),))
    return Finding(name, f"Claim of {name}", Answer(checks, (table,), (Drawing("bars", "Bars", "", canvas(1.0)[0]),)))


FINDINGS = [finding("one", True, True), finding("two", True, False), finding("three", False)]


def test_the_verdict_comes_first_and_leads_to_every_claim(tmp_path: Path) -> None:
    assert headline(FINDINGS) == "Of 3 claims 1 are seen here, 1 in part, 1 not."
    page = write_findings(FINDINGS, tmp_path, ["About."], {"run": "../run/report/index.html"}, "Findings").read_text()
    assert page.index("Of 3 claims") < page.index("About.") < page.index('<section id="one">')
    assert '<a href="#two">Claim of two</a>' in page
    assert page.count('<dt class="open">') == 2, "claims that are not wholly seen are marked"
    with (tmp_path / "tables" / "checks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["holds"] for row in rows] == ["yes", "yes", "yes", "no", "no"]
    files = {path.name for path in (tmp_path / "tables").iterdir()}
    assert {
        f"{name}.{end}" for name in ("claims", "checks", "one-figures") for end in ("csv", "tex", "json", "parquet")
    } <= files


def test_a_claim_without_checks_is_not_seen() -> None:
    assert finding("empty").answer.held == 0
    assert finding("empty").answer.verdict == "not seen"
