"""Pages lead where they say, and those that are generated are current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
OUTSIDE = ("http://", "https://", "mailto:")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as renderers make them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for link in (link for link in LINK.findall(text) if not link.startswith(OUTSIDE)):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), f"{link}: no such heading"


def test_generated_pages_are_current() -> None:
    """In a process of its own, since other tests register more."""
    command = [sys.executable, str(ROOT / "docs" / "write_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_picture_of_the_rooms_is_of_the_imports(tmp_path: Path) -> None:
    drawn = tmp_path / "rooms.svg"
    command = [sys.executable, str(ROOT / "docs" / "draw_rooms.py"), str(drawn)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert drawn.read_text() == (ROOT / "docs" / "rooms.svg").read_text(), "run python docs/draw_rooms.py"


def test_the_site_has_every_page() -> None:
    named = set(re.findall(r"[\w/-]+\.md", yaml.safe_dump(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])))
    there = {path.relative_to(ROOT).as_posix() for path in PAGES if ".github" not in path.parts}
    assert named == there
