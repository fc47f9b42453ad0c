"""The page as a folder: works from a disk or a mail, without a server, and saves its decisions as a file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pydantic

from ..core import BadInput
from .session import Booth, Decision

PAGE = ("index.html", "style.css", "ledger.js", "canvas.js", "app.js")


def page_file(name: str) -> bytes:
    """A file of the page."""
    return files("segstress.voting").joinpath("page", name).read_bytes()


def deck_script(deck: Mapping[str, Any]) -> str:
    """A script that deals a deck to the page."""
    return f"segstress.deal({json.dumps(deck)});\n"


def write_static(booth: Booth, rater: str, folder: Path) -> int:
    """The page with one person's deck and all its pictures; the number of trials."""
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; choose a new folder for the page")
    (folder / "pictures").mkdir(parents=True)
    for name in PAGE:
        (folder / name).write_bytes(page_file(name))
    deck = booth.deck(rater, server=False)
    (folder / "deck.js").write_text(deck_script(deck))
    try:
        for trial in deck["trials"]:
            for name in (trial["image"], *trial["maps"]):
                (folder / "pictures" / f"{name}.js").write_text(booth.picture(name))
    except BaseException:
        shutil.rmtree(folder)
        raise
    return len(deck["trials"])


def take_file(booth: Booth, path: Path) -> int:
    """Put the decisions that a static page has saved on paper; the number that was taken."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rater, events = content["rater"], [Decision(**event) for event in content["events"]]
        if content["mode"] != booth.mode:
            raise BadInput(f"{path} holds decisions of mode {content['mode']}, expected {booth.mode}")
    except (OSError, KeyError, TypeError, ValueError, pydantic.ValidationError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{path} is no file of decisions ({str(error).splitlines()[0]})") from error
    before = len(booth.standing(rater))
    for event in events:
        booth.take(rater, event)
    return len(booth.standing(rater)) - before
