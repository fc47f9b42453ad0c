"""The judge page in a browser: its server as a process that can be killed, and what a person does on the page."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from sessions import SECRET, make_session

from segstress.voting.trial_list import sign

sync_api = pytest.importorskip("playwright.sync_api")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")

ROOM = Path(__file__).parents[1] / "rooms" / "voting"

SERVER = (
    "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); from sessions import make_session; "
    "from segstress.voting.server import serve; "
    "serve(make_session(Path(sys.argv[2]), sys.argv[4]), '127.0.0.1', int(sys.argv[3]))"
)


class Server:
    """The real server in a process of its own, which can be killed and begun again."""

    def __init__(self, folder: Path, mode: str = "choose") -> None:
        self.folder, self.mode = folder, mode
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.begin()

    def begin(self) -> None:
        arguments = [str(ROOM), str(self.folder), str(self.port), self.mode]
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, *arguments])
        for _ in range(1200):  # a busy machine takes its time
            try:
                urllib.request.urlopen(f"{self.url}{link('kim')}").close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the server did not begin")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def saved(self, rater: str = "kim") -> list[dict]:
        return make_session(self.folder, self.mode).current(rater)


def link(rater: str) -> str:
    """The path of a person's page."""
    return f"/{rater}/{sign(SECRET, rater)}/"


def come_in(browser, url: str, rater: str = "kim"):
    """A page of a person's own, with the first trial on it."""
    page = browser.new_context(accept_downloads=True).new_page()
    page.goto(f"{url}{link(rater)}")
    ready(page)
    return page


def ready(page) -> None:
    page.wait_for_selector("body[data-ready=true]")


def settled(page) -> None:
    sync_api.expect(page.locator("#saved")).to_have_text("all saved", timeout=20_000)


def press(page, key: str) -> None:
    before = page.text_content("#progress")
    page.keyboard.press(key)
    sync_api.expect(page.locator("#progress")).not_to_have_text(before)
    ready(page)
