"""What a run says of damage to part of an image: counts zone by zone, and pictures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..attacks.multi_attack import several
from ..core import Perturbation, regions
from ..runtime import Cell
from .local import LocalResult, ModelFrames
from .run import Arrays, Run
from .study import Frame

STATES = ("clean", "perturbed", "wanted_clean", "wanted")
IMAGES, OUTCOMES = 3, 4  # of each dataset in the gallery


def read_local(run: Run) -> list[LocalResult]:
    """Return every corruption and every localized attack of a run, in the order of its plan."""
    return [result for cell in run.cells for result in _results(run, cell)]


def _results(run: Run, cell: Cell) -> Iterator[LocalResult]:
    change = run.perturbations[cell.key]
    point = change.curve_point
    if point is None:
        return
    ids = tuple(run.ids(cell, "ok"))
    counts = run.counts(cell, ids)
    for goal in dict.fromkeys(goal for goal, _, _ in counts):
        zones = {
            counted: {zone: table for (of, zone, state), table in counts.items() if (of, state) == (goal, counted)}
            for counted in STATES
        }
        yield LocalResult(
            model=cell.names["model"],
            data=cell.names["data"],
            what=point.what,
            severity=point.severity,
            steps=point.steps,
            number=point.number,
            region=regions.name(change.region) if change.region else "local" if "inside" in zones["clean"] else "",
            shape=change.region,
            goal=goal,
            ids=ids,
            **zones,
        )


def scenes(run: Run) -> list[ModelFrames]:
    """Return a few images under a few perturbations, as every model saw them."""
    frames: dict[tuple[str, str, str], dict[str, Frame]] = {}
    looks = {
        cell.names["data"]: (
            tuple(tuple(colour) for colour in cell.dataset_info["palette"]),
            tuple(cell.dataset_info["classes"]),
        )
        for cell in run.cells
    }
    for clean in (cell for cell in run.cells if cell.is_clean):
        shown = run.kept(clean)[:IMAGES]
        sources, _ = run.photographs(clean, shown)
        for cell in _shown(
            [cell for cell in run.cells if cell.fingerprints == clean.fingerprints and cell is not clean]
        ):
            images, maps = run.photographs(cell, shown)
            for key in sorted(sources):
                id_ = key.partition("|")[2]
                goal, seen = _goals(run.perturbations[cell.key], id_, images)
                if f"{goal}|{id_}" in images and f"{seen}|{id_}" in maps:
                    frame = _frame(id_, cell, goal, seen, sources[key], images, maps)
                    shown_as = (cell.names["data"], id_, cell.names["perturbation"])
                    frames.setdefault(shown_as, {})[cell.names["model"]] = frame
    return [ModelFrames(id_, outcome, by_model, *looks[data]) for (data, id_, outcome), by_model in frames.items()]


def _shown(cells: list[Cell]) -> list[Cell]:
    """Choose a few, spread evenly over the plan; damage to a part is shown before damage to all."""
    local = [cell for cell in cells if cell.perturbation.get("region")] or cells
    return local[:: max(1, -(-len(local) // OUTCOMES))]


def _goals(change: Perturbation, id_: str, images: Arrays) -> tuple[str, str]:
    """Tell of which result the image is shown, and of which the prediction: of several attacks the last, and all."""
    if several(change):
        return f"attack-{change.number}", f"cumulative-{change.number}"
    goal = min((name.partition("|")[0] for name in images if name.partition("|")[2] == id_), default="")
    return goal, goal


def _frame(id_: str, cell: Cell, goal: str, seen: str, source: np.ndarray, images: Arrays, maps: Arrays) -> Frame:
    truth, clean, prediction = (maps[f"{name}|{id_}"].astype(np.int64) for name in ("truth", "clean", seen))
    region = maps[f"inside|{id_}"] > 0 if f"inside|{id_}" in maps else None  # earlier versions did not store it
    image, together = images[f"{goal}|{id_}"], seen != goal
    return Frame(id_, cell.names["perturbation"], source, image, truth, clean, prediction, region, together)
