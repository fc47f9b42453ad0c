"""The report of a competition as a folder: who wins, how surely, and the images that tell the models apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ...competition.ranking_report import Standing
from ...core import BadInput
from ..kit.drawing import Drawing
from ..kit.export import to_csv, to_latex
from ..kit.naming import plural
from ..kit.table import Table
from ..kit.templating import render
from .figures import drawings
from .gallery import Strip, Witness, write_gallery
from .tables import tables

LISTED = 100  # rows of a table in the page; its files have all


@dataclass(frozen=True, eq=False)
class Contested:
    """All that the report of a competition shows."""

    title: str
    standing: Standing
    classes: Sequence[str]
    palette: tuple[tuple[int, int, int], ...]
    empty: Sequence[tuple[str, str, str]]  # defender, attacker and class without any image
    witnesses: Sequence[Witness]  # selected images with truth and predictions
    provenance: Mapping[str, str]

    @property
    def headline(self) -> str:
        """The competition in one sentence."""
        standing = self.standing
        best = standing.names[standing.order[0]]
        band = f"{standing.main.best[standing.order[0]]} to {standing.main.worst[standing.order[0]]}"
        many = f"{plural(len(standing.images), 'image')} chosen for {len(standing.names)} models"
        return f"{best} leads on {many}; its place is {band} at 95 %."


def write_competition(contested: Contested, folder: Path) -> Path:
    """Write tables, figures, gallery and page; the path of the page."""
    try:
        for part in ("tables", "figures", "gallery"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        return _write(contested, folder)
    except OSError as error:
        raise BadInput(
            f"cannot write the report into {folder}: {error.strerror or error}; make room or choose another folder"
        ) from error


def _write(contested: Contested, folder: Path) -> Path:
    found = tables(contested.standing, contested.classes, contested.empty)
    for table in found:
        for suffix, text in (("csv", to_csv(table)), ("tex", to_latex(table))):
            (folder / "tables" / f"{table.name}.{suffix}").write_text(text, encoding="utf-8")
    figures = drawings(contested.standing)
    for drawing in figures:
        for suffix, data in (("svg", drawing.svg), ("pdf", drawing.pdf)):
            (folder / "figures" / f"{drawing.name}.{suffix}").write_bytes(data)
    strips = write_gallery(contested.witnesses, contested.palette, folder)
    page = folder / "index.html"
    page.write_text(_page(contested, found, figures, strips), encoding="utf-8")
    return page


def _page(contested: Contested, found: Sequence[Table], figures: Sequence[Drawing], strips: Sequence[Strip]) -> str:
    maps = [part for witness in contested.witnesses for part in witness.maps.values()]
    seen = sorted({int(label) for part in maps for label in np.unique(part) if label >= 0})
    return render(
        "competition.html",
        contested=contested,
        tables={table.name: table for table in found},
        drawings=[(drawing, Markup(drawing.inline(drawing.name))) for drawing in figures],  # drawn by us
        strips=strips,
        legend=[(contested.classes[label], "rgb({}, {}, {})".format(*contested.palette[label])) for label in seen],
        listed=LISTED,
        hidden={"ranking": [f"{name}_{end}" for name in contested.standing.rankings for end in ("low", "high")]},
    )
