"""The page of localized damage: tables, curves, maps, and pictures of several models side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

from ...results.local import Scene
from ...results.study import Frame
from ..kit.drawing import Drawing
from ..kit.export import show, to_csv, to_latex
from ..kit.gallery import paint, photograph
from ..kit.naming import slugs
from ..kit.table import Table
from ..kit.templating import render

LISTED = 60  # rows of a table in the page; its files have all
OUTLINE = np.array([255, 64, 0], dtype=np.uint8)


@dataclass(frozen=True)
class Strip:
    """A scene in pictures."""

    scene: Scene
    pictures: tuple[tuple[str, str], ...]  # caption and file


def write_page(
    folder: Path,
    title: str,
    headline: str,
    tables: Sequence[Table],
    drawings: Sequence[Drawing],
    scenes: Sequence[Scene],
) -> Path:
    """Write the page and all its files; the path of the page."""
    for part in ("tables", "figures", "gallery"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    full = [table for table in tables if table.rows]
    for table in full:
        for suffix, text in (("csv", to_csv(table)), ("tex", to_latex(table))):
            (folder / "tables" / f"{table.name}.{suffix}").write_text(text, encoding="utf-8")
    for drawing in drawings:
        (folder / "figures" / f"{drawing.name}.svg").write_bytes(drawing.svg)
        (folder / "figures" / f"{drawing.name}.pdf").write_bytes(drawing.pdf)
    strips = _strips(scenes, folder)
    page = render(
        "spatial.html",
        title=title,
        headline=headline,
        tables=[leaner(table) for table in full],
        drawings=drawings,
        strips=strips,
        listed=LISTED,
        hidden={},
    )
    index = folder / "index.html"
    index.write_text(page, encoding="utf-8")
    return index


def leaner(table: Table) -> Table:
    """The table for the page: settings that are the same in every row are said once, below it."""
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    same = {
        column: values[0]
        for column, values in zip(table.columns, columns, strict=True)
        if column.kind in ("text", "count") and column.key != "model" and len(set(values)) == 1
    }
    if not same:
        return table
    said = ", ".join(f"{column.title.lower()} {show(value, column.kind)}" for column, value in same.items())
    return replace(table.without([column.key for column in same]), note=f"{table.note} In every row: {said}.".strip())


def _strips(scenes: Sequence[Scene], folder: Path) -> list[Strip]:
    names = slugs([f"{scene.image} {scene.outcome}" for scene in scenes])
    return [Strip(scene, tuple(_save(folder, name, scene))) for name, scene in zip(names, scenes, strict=True)]


def _save(folder: Path, name: str, scene: Scene) -> list[tuple[str, str]]:
    first = next(iter(scene.frames.values()))
    pictures = {"perturbed, region outlined": outlined(first), "truth": paint(first.truth, scene.palette)}
    for model, frame in scene.frames.items():
        pictures[f"{model}, clean"] = paint(frame.clean, scene.palette)
        pictures[f"{model}, perturbed"] = paint(frame.prediction, scene.palette)
    found = []
    for number, (caption, pixels) in enumerate(pictures.items()):
        file = f"gallery/{name}-{number}.png"
        Image.fromarray(pixels).save(folder / file, optimize=True)
        found.append((caption, file))
    return found


def outlined(frame: Frame) -> np.ndarray:
    """The perturbed image with a line around what was changed."""
    pixels = photograph(frame.perturbed)
    inside = (frame.perturbed != frame.image).any(0)
    inside = ndimage.binary_closing(inside, np.ones((5, 5)))  # single pixels may be unchanged by chance
    if not inside.all():
        pixels[ndimage.binary_dilation(inside, iterations=2) & ~inside] = OUTLINE
    return pixels
