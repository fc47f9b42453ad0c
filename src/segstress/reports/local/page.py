"""The page of localized damage: tables, curves, maps, and pictures of several models side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from ...results.local import LocalResult, ModelFrames
from ...results.record import RunRecord
from ...results.strikes import StrikeFrames
from ...results.study import Frame
from ..kit.drawing import Drawing
from ..kit.export import show
from ..kit.naming import slugs
from ..kit.page import PageFiles, write_page
from ..kit.pictures import GalleryPicture, Strip, legend, paint, photograph
from ..kit.table import Table
from ..kit.verdict import provenance
from .figures import DRAWINGS
from .strikes import strike_strips
from .tables import TABLES
from .verdict import headline, points, verdict

OUTLINE = np.array([255, 64, 0], dtype=np.uint8)
ACROSS = 6  # pictures beside each other: image and truth, then clean and perturbed of each model
TOGETHER = "; all together: each pixel as the first attack that fooled it left it, which no single image attains"


def write_local(
    folder: Path,
    title: str,
    results: Sequence[LocalResult],
    scenes: Sequence[ModelFrames],
    tables: Sequence[Table] = (),
    drawings: Sequence[Drawing] = (),
    alarms: Sequence[str] = (),
    warnings: Sequence[str] = (),
    lead: str = "",
    record: RunRecord | None = None,
    strikes: Sequence[StrikeFrames] = (),
) -> Path:
    """Write the page of localized damage, the tables and figures that are given first; its path.

    Its headline is the lead, or else the worst damage. Alarms say which answers are missing, warnings all else."""

    def declare(files: PageFiles) -> dict[str, Any]:
        made = (table for table in (*tables, *files.make(Table, TABLES, results)) if table.rows)
        every = [*map(leaner, made), *([provenance(record)] if record else ())]
        figures = (*drawings, *files.make(Drawing, DRAWINGS, results))
        part = files.part("", every, figures, (*strips(scenes), *strike_strips(strikes)))
        maps = (m for scene in scenes for f in scene.frames.values() for m in (f.truth, f.clean, f.prediction))
        return {
            "title": title,
            "headline": lead or headline(results),
            "verdict": verdict(results),
            "points": list(points(results, record, len(alarms))),
            "part": part,
            "alarms": [*warnings, *alarms],
            "classes": legend(maps, scenes[0].classes, scenes[0].palette) if scenes else [],
        }

    return write_page(folder, "local.html", declare)


def leaner(table: Table) -> Table:
    """Say once, below the table, which settings are the same in every row; only the files keep them in columns."""
    cells = [[row[number] for row in table.rows] for number in range(len(table.columns))]
    same = {
        column: values[0]
        for column, values in zip(table.columns, cells, strict=True)
        if column.kind in ("text", "count") and column.key != "model" and len(set(values)) == 1
    }
    if not same:
        return table
    settings = ", ".join(f"{column.title.lower()} {show(value, column.kind)}" for column, value in same.items())
    lean = table.hiding([column.key for column in same])
    return replace(lean, note=f"{table.note} In every row: {settings}.".strip())


def strips(scenes: Sequence[ModelFrames]) -> Iterator[Strip]:
    """Show each scene as a row: what was done, the truth, and what every model made of it."""
    rows = [row for scene in scenes for row in _of_one_image(scene)]
    names = slugs([f"{row.outcome} {row.image}" for row in rows])
    for name, row in zip(names, rows, strict=True):
        first = next(iter(row.frames.values()))
        image, seen = ("last attack's image", "all attacks together") if first.together else ("perturbed", "perturbed")
        maps = {"truth": first.truth}
        for model, frame in row.frames.items():
            maps |= {f"{model}, clean": frame.clean, f"{model}, {seen}": frame.prediction}
        draws = {f"{image}, region outlined": partial(outlined, first)}
        draws |= {caption: partial(paint, labels, row.palette) for caption, labels in maps.items()}
        pictures = tuple(
            GalleryPicture(caption, f"gallery/{name}-{number}.png", draw, photograph=caption not in maps)
            for number, (caption, draw) in enumerate(draws.items())
        )
        yield Strip(row.image, f"under {row.outcome}{TOGETHER if first.together else ''}", pictures, across=ACROSS)


def _of_one_image(scene: ModelFrames) -> Iterator[ModelFrames]:
    """Yield the scene, or where every model has an image of its own, as attacks make them, a row for each model."""
    images = [frame.perturbed for frame in scene.frames.values()]
    if all(np.array_equal(image, images[0]) for image in images):
        yield scene
    else:
        yield from (replace(scene, frames={model: frame}) for model, frame in scene.frames.items())


def outlined(frame: Frame) -> np.ndarray:
    """Draw the perturbed image with a line around its region; in white sky nothing inside may have changed."""
    pixels, inside = photograph(frame.perturbed), frame.region
    if inside is not None and not inside.all():
        pixels[ndimage.binary_dilation(inside, iterations=2) & ~inside] = OUTLINE
    return pixels
