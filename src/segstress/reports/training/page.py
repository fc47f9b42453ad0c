"""The page of a training: verdict, curves, samples, card."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..kit.drawing import Drawing
from ..kit.frames import pictures, right
from ..kit.naming import percent, slugs
from ..kit.page import PageFiles, write_page
from ..kit.pictures import Strip, legend
from ..kit.table import Table
from .figures import DRAWINGS
from .record import TrainingRecord
from .tables import TABLES
from .verdict import headline, points, verdict

COLUMNS = ("image", "truth", "clean prediction", "perturbed image", "delta", "prediction", "error map")


def write_training(record: TrainingRecord, folder: Path) -> Path:
    """Write tables, curves, samples and the page; the path of the page."""

    def declare(files: PageFiles) -> dict[str, Any]:
        tables, drawings = files.make(Table, TABLES, record), files.make(Drawing, DRAWINGS, record)
        maps = (labels for frame in record.frames for labels in (frame.truth, frame.clean, frame.prediction))
        return {
            "title": record.title,
            "headline": headline(record),
            "verdict": verdict(record),
            "points": list(points(record)),
            "part": files.part("", tables, drawings, strips(record)),
            "classes": legend(maps, record.classes, record.palette),
        }

    return write_page(folder, "training.html", declare)


def strips(record: TrainingRecord) -> Iterator[Strip]:
    """Yield a row for each sample."""
    names = slugs([frame.image_id for frame in record.frames])
    for name, frame in zip(names, record.frames, strict=True):
        before, after = (percent(right(frame.truth, labels)) for labels in (frame.clean, frame.prediction))
        words = f"under {frame.outcome}: {before} % right, then {after} %"
        yield Strip(frame.image_id, words, pictures(frame, COLUMNS, record.palette, partial(_file, name)))


def _file(name: str, column: str) -> str:
    return f"gallery/{name}--{column.replace(' ', '-')}.png"
