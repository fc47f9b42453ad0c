"""The pages of localized damage, smallest changes, competitions, trainings and findings in a real browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from segstress.core import import_source
from segstress.reports.contest.page import write_competition
from segstress.reports.findings.page import write_findings
from segstress.reports.local.page import write_local
from segstress.reports.minimal.page import write_minimal
from segstress.reports.training.page import write_training

ROOMS = Path(__file__).parents[1] / "rooms"
sys.path.insert(0, str(ROOMS / "reports"))  # for sample_study.py
sys.path.insert(0, str(Path(__file__).parent))
visit = import_source(str(Path(__file__).with_name("test_page.py"))).visit
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    reports = ("test_spatial.py", "test_training_page.py", "test_minimal_report.py", "test_findings_page.py")
    contests = import_source(str(ROOMS / "competition" / "test_report.py"))
    local, training, minimal, findings = (import_source(str(ROOMS / "reports" / file)) for file in reports)
    folder = tmp_path_factory.mktemp("pages")
    results = [local.spot((hits, 0), place=local.patches(0.5), severity=level) for hits, level in ((4, 1.0), (2, 3.0))]
    record = training.record(training.entry(1, 0.2, 0.1), training.entry(2, 0.4, 0.3))
    return {
        "contest": write_competition(contests.contested(contests.by_truth({"good": 0.7})), folder / "contest"),
        "local": write_local(folder / "local", "local", results, ()),
        "training": write_training(record, folder / "training"),
        "minimal": write_minimal(minimal.FINDS, folder / "minimal", "run", ["BatchNorm was folded."]),
        "findings": write_findings(findings.FINDINGS, folder / "findings", ["About."], {}, "Findings"),
    }


@pytest.mark.parametrize("name", ["contest", "local", "training", "minimal", "findings"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_and_the_verdict_comes_first(
    browser: Any, pages: dict[str, Path], name: str, scheme: str
) -> None:
    for page in visit(browser, pages[name], color_scheme=scheme):
        assert page.locator(".verdict").first.bounding_box()["y"] < 900
        assert page.locator(".contents a").count() > 2
        for width in (400, 1000, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(OVERFLOW) == 0


def test_a_cell_of_a_matrix_shows_its_images_and_the_address_leads_back(browser: Any, pages: dict[str, Path]) -> None:
    for page in visit(browser, pages["contest"]):
        assert page.locator("#images-count").inner_text() == "24 of 24 selections"
        page.locator("td.tinted a").first.press("Enter")  # aggressiveness of good over fair
        page.wait_for_function("document.querySelector('[name=defender]').value === '1'")
        assert page.locator("[name=attacker]").input_value() == "0"
        assert page.locator("#images-count").inner_text() == "4 of 24 selections"
        assert page.locator("#images .strip").count() == 4
        page.locator("#images [name=class]").select_option("2")
        link = page.url
        assert "class=2" in link
        shown = page.locator("#images-count").inner_text()
        page.locator("#images button[type=reset]").click()
        page.wait_for_function("document.querySelector('#images-count').textContent === '24 of 24 selections'")
        for other in visit(browser, pages["contest"]):
            other.goto(link)
            other.reload()
            assert other.locator("#images-count").inner_text() == shown


def test_images_without_pictures_say_so(browser: Any, pages: dict[str, Path]) -> None:
    for page in visit(browser, pages["contest"]):
        assert page.locator("#images .strip", has_text="no pictures were kept").count() == 23
        assert page.locator("#images .apart img").count() == 2
