"""The page as a folder: works from a disk or a mail, without a server, and saves its decisions as a file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..core import BadInput
from .session import Decision, Session
from .trial_list import is_signed

PAGE = ("index.html", "style.css", "decision_log.js", "canvas.js", "app.js")

LARGEST = 20_000_000  # bytes of a file of decisions


def page_file(name: str) -> bytes:
    """Return a file of the page."""
    return files("segstress.voting").joinpath("page", name).read_bytes()


def trials_script(trial_list: Mapping[str, Any]) -> str:
    """Return a script that deals a trial list to the page."""
    return f"segstress.deal({json.dumps(trial_list)});\n"


def write_static(session: Session, rater: str, folder: Path) -> int:
    """Write the page with one person's trial list and all its pictures; return the number of trials."""
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; choose a new folder for the page")
    (folder / "pictures").mkdir(parents=True)
    for name in PAGE:
        (folder / name).write_bytes(page_file(name))
    trial_list = session.trial_list(rater, server=False)
    (folder / "trials.js").write_text(trials_script(trial_list))
    try:
        for trial in trial_list["trials"]:
            for name in (trial["image"], *trial["maps"]):
                (folder / "pictures" / f"{name}.js").write_text(session.picture(name))
    except BaseException:
        shutil.rmtree(folder)
        raise
    return len(trial_list["trials"])


def take_file(session: Session, path: Path) -> int:
    """Put the decisions that a static page has saved on paper; the number that was taken."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"{path} is larger than any file of decisions ({LARGEST:,} bytes)")
        content = json.loads(path.read_text(encoding="utf-8"))
        rater, events = content["rater"], [Decision(**event) for event in content["events"]]
        if content["mode"] != session.mode:
            raise BadInput(f"{path} holds decisions of mode {content['mode']}, expected {session.mode}")
        if not is_signed(session.secret, str(rater), str(content.get("signature"))):
            raise BadInput(f"{path} was not saved by a page of '{str(rater)[:32]}'; its signature is missing or wrong")
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{path} is no file of decisions ({str(error).splitlines()[0]})") from error
    before = len(session.current(rater))
    for event in events:
        session.take(rater, event)
    return len(session.current(rater)) - before
