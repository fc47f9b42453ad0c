"""One browser and one server for each test that judges."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "rooms" / "voting"))  # for sessions.py


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    pages = pytest.importorskip("pages", reason="playwright is not installed")
    if pages.BROWSER is None:
        pytest.skip("no Chromium on this machine")
    with pages.sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=pages.BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[object]:
    """The judge's server; choosing, unless the test asks for another mode."""
    from pages import Server

    running = Server(tmp_path, getattr(request, "param", "choose"))
    yield running
    running.kill()
