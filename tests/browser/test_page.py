"""The page in a real browser: opened from a file, with nothing else around it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from segstress.core import import_source
from segstress.reports.study.report import write

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; apt-get install chromium")

sample = import_source(str(Path(__file__).parents[1] / "rooms" / "reports" / "sample_study.py"))

QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--dump-dom"),
)
PROBE = """<script>addEventListener("load", () => {
  const pictures = [...document.images], style = getComputedStyle(document.body);
  const drawn = [...document.querySelectorAll("figure svg")].map(svg => svg.getBoundingClientRect().width > 100);
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  top.document.body.setAttribute("data-probe", JSON.stringify({
    pictures: pictures.length, broken: pictures.filter(picture => !picture.naturalWidth).length,
    drawings: drawn.length, drawn: drawn.every(Boolean), repeated: ids.length - new Set(ids).size,
    width: innerWidth, overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    paper: style.backgroundColor, ink: style.color,
    figure: getComputedStyle(document.querySelector("figure svg text")).fill,
    loaded: performance.getEntriesByType("resource").filter(entry => !entry.name.startsWith("data:")).length,
  }));
});</script>"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    studies = [sample.study(images=12), sample.study("cnn-robust", images=12, scale=0.4, background=None)]
    return write(studies, folder, "two models")


def browse(page: Path, profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page without a window; its document on stdout, its console on stderr."""
    command = [str(CHROMIUM), *QUIET, f"--user-data-dir={profile}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def probe(page: Path, profile: Path, *options: str, width: int = 1280) -> dict[str, Any]:
    """What a script finds in a lone copy of the page, framed since no window is as narrow as a phone."""
    text = html.escape(page.read_text().replace("</body>", f"{PROBE}</body>"))
    copy = profile / "probe.html"
    copy.write_text(f'<!doctype html><iframe width="{width}" height="2000" srcdoc="{text}"></iframe>')
    document = browse(copy, profile, *options).stdout
    found = re.search(r'<body data-probe="([^"]*)"', document)
    assert found, "the page did not finish loading"
    return json.loads(html.unescape(found[1]))


def test_alone_in_a_folder_it_shows_every_picture_and_figure(report: Path, tmp_path: Path) -> None:
    found = probe(report, tmp_path)
    assert found["pictures"] == 2 * 6 * 6
    assert (found["broken"], found["loaded"], found["repeated"]) == (0, 0, 0)
    assert found["drawings"] == 2 * 6 + 1
    assert found["drawn"]
    assert found["overflow"] == 0


def test_it_follows_the_dark_scheme(report: Path, tmp_path: Path) -> None:
    light = probe(report, tmp_path)
    dark = probe(report, tmp_path, "--blink-settings=preferredColorScheme=0")
    assert light["paper"] == "rgb(255, 255, 255)"
    assert dark["paper"] != light["paper"]
    assert dark["figure"] == dark["ink"] != light["ink"]


def test_a_phone_need_not_scroll_sideways(report: Path, tmp_path: Path) -> None:
    found = probe(report, tmp_path, width=390)
    assert found["width"] == 390
    assert found["overflow"] == 0


def test_the_console_stays_empty(report: Path, tmp_path: Path) -> None:
    loud = tmp_path / "loud.html"
    loud.write_text("<script>console.error('heard')</script>")
    assert "CONSOLE" in browse(loud, tmp_path).stderr
    assert "CONSOLE" not in browse(report, tmp_path).stderr
