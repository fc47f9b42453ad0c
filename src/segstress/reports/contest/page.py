"""The report of a competition as a folder: who wins, how surely, and the images that tell the models apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..kit.drawing import Drawing
from ..kit.page import PageFiles, write_page
from ..kit.pictures import legend
from ..kit.table import Table
from .contested import Contested
from .figures import DRAWINGS
from .gallery import strips
from .tables import TABLES

OPEN = "ranking"  # the table that is not folded


def write_competition(contested: Contested, folder: Path) -> Path:
    """Write tables, figures, gallery and page; the path of the page."""

    def declare(files: PageFiles) -> dict[str, Any]:
        tables = files.make(Table, TABLES, contested)
        part = files.part(
            "",
            (replace(table, folded=table.name != OPEN) for table in tables),
            files.make(Drawing, DRAWINGS, contested.ranking_report),
            strips(contested.examples, contested.palette),
        )
        maps = (labels for example in contested.examples for labels in example.maps.values())
        classes = legend(maps, contested.classes, contested.palette)
        return {"contested": contested, "part": part, "classes": classes}

    return write_page(folder, "contest.html", declare)
