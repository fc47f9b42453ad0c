"""The report of a competition as a folder: who wins, how surely, and the images that tell the models apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..kit.drawing import Drawing
from ..kit.page import PageFiles, write_page
from ..kit.pictures import legend
from ..kit.table import Table
from .contested import Contested
from .figures import DRAWINGS
from .gallery import FILE, VARIABLE, catalogue, strips
from .tables import TABLES
from .verdict import points, verdict

OPEN = ("ranking", "beats")  # tables that are not folded, beside the matrices


def write_competition(contested: Contested, folder: Path) -> Path:
    """Write tables, figures, gallery and page; the path of the page."""
    ranking = contested.ranking_report

    def declare(files: PageFiles) -> dict[str, Any]:
        shown = (*OPEN, *ranking.matrices)
        tables = (replace(t, folded=t.name not in shown) for t in files.make(Table, TABLES, contested))
        part = files.part("", tables, files.make(Drawing, DRAWINGS, ranking), strips(contested))
        files.script(FILE, VARIABLE, catalogue(contested))
        return {
            "contested": contested,
            "part": part,
            "verdict": verdict(ranking),
            "points": list(points(contested)),
            "classes": legend(_maps(contested), contested.classes, contested.palette),
        }

    return write_page(folder, "contest.html", declare)


def _maps(contested: Contested) -> Iterator[Any]:
    for image in contested.images:
        yield from image.maps.values()
        if image.truth is not None:
            yield image.truth
