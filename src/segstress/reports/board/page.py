"""The board as a folder of its own: tables of models x threats, and a card for each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..kit.naming import slugs
from ..kit.page import PageFiles, write_page
from .entry import BoardEntry
from .tables import board_tables

OWN = ("seal", "seal of the environment", "data", "data hash", "seed", "numerics", "versions", "machine")  # of a run


@dataclass(frozen=True, eq=False)
class Card:
    """A model with everything that was tried on it."""

    name: str  # its anchor
    model: str
    facts: dict[str, str]
    entries: tuple[BoardEntry, ...]

    @property
    def warnings(self) -> list[str]:
        """What speaks against its figures."""
        return [f"{entry.run}: {line}" for entry in self.entries for line in entry.warnings]


def write_board(entries: Sequence[BoardEntry], folder: Path, title: str, by: str = "") -> Path:
    """Write tables and cards; `by` says who stands for the figures. The path of the page."""

    tables = board_tables(entries)  # refused before anything is written

    def declare(files: PageFiles) -> dict[str, Any]:
        return {
            "title": title,
            "by": by,
            "part": files.part("", tables),
            "cards": cards(entries),
            "of_run": of_run,
        }

    return write_page(folder, "board.html", declare)


def cards(entries: Sequence[BoardEntry]) -> list[Card]:
    """Return one card for each model, told apart by the hash of its weights."""
    models: dict[tuple[str, str], list[BoardEntry]] = {}
    for entry in entries:
        models.setdefault((entry.study.model, entry.study.provenance["model hash"]), []).append(entry)
    names = slugs([f"card {model}" for model, _ in models])
    return [
        Card(name, model, _facts(of_model[0]), tuple(of_model))
        for name, ((model, _), of_model) in zip(names, models.items(), strict=True)
    ]


def _facts(entry: BoardEntry) -> dict[str, str]:
    """Return what a study says of its model; the rest is said of each run."""
    return {key: value for key, value in entry.study.provenance.items() if key not in OWN}


def of_run(entry: BoardEntry) -> dict[str, str]:
    """Return what a study says of its run."""
    return {key: entry.study.provenance[key] for key in OWN if key in entry.study.provenance}
