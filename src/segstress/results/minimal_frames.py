"""Pictures of the smallest harmful changes that a run kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ..runtime import Cell
from .frames import frame_of
from .minimal import attack_name
from .run import Run
from .studies import beside
from .study import Frame

FrameKey = tuple[str, str, str, str, str]  # model, data, attack, threshold, image


def read_frames(run: Run) -> Mapping[FrameKey, Frame]:
    """Return the image before and after each search, where pictures were kept; by what it belongs to."""
    frames: dict[FrameKey, Frame] = {}
    for clean in (cell for cell in run.cells if cell.is_clean):
        for cell in (cell for cell in run.cells if beside(cell, clean) and cell is not clean):
            frames |= _frames(run, clean, cell)
    return frames


def palettes(run: Run) -> dict[str, list[tuple[int, int, int]]]:
    """Return the colours of the classes of each dataset."""
    return {
        cell.names["data"]: [(red, green, blue) for red, green, blue in cell.dataset_info["palette"]]
        for cell in run.cells
    }


def _frames(run: Run, clean: Cell, cell: Cell) -> Iterator[tuple[FrameKey, Frame]]:
    change = run.perturbations[cell.key]
    if change.threat is None or math.isfinite(change.threat.radius):
        return
    name, goal = attack_name(change, change.threat), f"{100 * change.threat.enough:g}%"
    ids = [id_ for id_ in run.kept(clean) if id_ in set(run.kept(cell))]
    sources, truths = run.photographs(clean, ids)
    images, maps = run.photographs(cell, ids)
    for id_ in (id_ for id_ in ids if f"{goal}|{id_}" in images):
        key = (cell.names["model"], cell.names["data"], name, goal, id_)
        yield key, frame_of(id_, name, goal, (sources, truths), (images, maps))
