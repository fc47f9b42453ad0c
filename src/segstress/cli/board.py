"""The command `board`: models beside each other, from sealed runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from . import options
from .console import console, show_json

Site = Annotated[Path, Option("--out", help="Folder of the site; it opens without a server.")]
Unsealed = Annotated[
    bool, Option("--unsealed", help="Let in runs that are unfinished, damaged or unsealed; they say so.")
]
Title = Annotated[str, Option("--title", help="Heading of the page.")]
By = Annotated[str, Option("--by", help="Who stands for the figures; printed on the page.")]


def board(
    runs: options.Folders,
    out: Site = Path("site"),
    unsealed: Unsealed = False,
    title: Title = "Board",
    by: By = "",
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Write a static page of models x threats from sealed runs, with a card for each model and every run's report.

    Example: segstress board runs/cnn runs/transformer --out site --by "The vision group"
    """
    from ..evaluation.board import board

    page = board(runs, out, unsealed=unsealed, title=title, by=by)
    console.print(f"Board: {page}", soft_wrap=True)
    if as_json:
        show_json({"page": str(page)})
