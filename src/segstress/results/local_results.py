"""What a run says of damage to part of an image: counts zone by zone, and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..attacks import Attack, attacks
from ..attacks.multi_attack import MultiAttack
from ..core import BadInput, Perturbation, perturbations, regions
from ..corruptions import Corrupt, corruptions
from ..planning.plan import read_plan
from ..runtime import Cell, Store
from .local import Scene, Spot
from .studies import declared
from .study import Frame

IMAGES, OUTCOMES = 3, 4  # of each dataset in the gallery
Counts = dict[tuple[str, str, str], np.ndarray]  # state, goal, zone -> (images, classes, 3)


def spots(folder: Path) -> list[Spot]:
    """Every corruption and every localized attack of a run, in the order of its plan."""
    store = Store(folder)
    return [spot for cell in _cells(store) for spot in _spots(store, cell, perturbations.build(cell.perturbation))]


def _cells(store: Store) -> list[Cell]:
    """The cells in the order of the plan."""
    if not store.cells():
        raise BadInput(f"{store.folder} holds no results; expected a folder made by segstress spatial or segstress run")
    return declared(store.cells(), read_plan(store.folder / "plan.yaml"))


def _spots(store: Store, cell: Cell, change: Perturbation) -> Iterator[Spot]:
    if not isinstance(change, Corrupt | MultiAttack) and not (isinstance(change, Attack) and change.region):
        return
    region, counts = change.region, _counts(store, cell)
    for goal in dict.fromkeys(goal for _, goal, _ in counts):
        zones = {
            wanted: {zone: table for (state, of, zone), table in counts.items() if (state, of) == (wanted, goal)}
            for wanted in ("clean", "perturbed")
        }
        yield Spot(
            model=cell.names["model"],
            data=cell.names["data"],
            what=_what(change),
            severity=change.severity if isinstance(change, Corrupt) else change.threat.radius,
            steps=getattr(_algorithm(change), "steps", 0),
            number=change.number if isinstance(change, MultiAttack) else 0,
            region=regions.name(region) if region else "local" if "inside" in zones["clean"] else "",
            place=region,
            goal=goal,
            **zones,
        )


def _what(change: Corrupt | MultiAttack | Attack) -> str:
    """What was done, without how strongly, how long and where."""
    if isinstance(change, Corrupt):
        return corruptions.name(change.corruption)
    settings = attacks.spec(_algorithm(change))
    settings.pop("steps", None)
    name = attacks.name(attacks.build(settings))
    if isinstance(change, Attack):
        return name
    return f"{change.number} x {name}{' every iterate' if change.every_iterate else ''}"


def _algorithm(change: Corrupt | MultiAttack | Attack) -> Any:
    return change.attack if isinstance(change, MultiAttack) else getattr(change, "algorithm", None)


def _counts(store: Store, cell: Cell) -> Counts:
    """Tables over the images that were answered; zeros where a zone has no pixel."""
    ids = sorted({row["image"] for row in store.rows(cell, "images") if row["status"] == "ok"})
    place = {id_: number for number, id_ in enumerate(ids)}
    counts: Counts = {}
    for row in store.rows(cell, "counts"):
        if row["image"] in place:
            shape = (len(ids), len(cell.facts["classes"]), 3)
            table = counts.setdefault((row["state"], row["goal"], row["zone"]), np.zeros(shape, dtype=np.int64))
            table[place[row["image"]], row["class"]] = row["hits"], row["predicted"], row["actual"]
    return counts


def scenes(folder: Path) -> list[Scene]:
    """A few images under a few perturbations, as every model saw them."""
    store = Store(folder)
    cells = _cells(store)
    found: dict[tuple[str, str, str], dict[str, Frame]] = {}
    palettes = {cell.names["data"]: tuple(tuple(colour) for colour in cell.facts["palette"]) for cell in cells}
    for clean in (cell for cell in cells if cell.perturbation["kind"] == "clean"):
        shown = store.kept(clean)[:IMAGES]
        sources, same = store.arrays(clean, "kept", shown), [cell for cell in cells if cell.prints == clean.prints]
        for cell in _shown([cell for cell in same if cell is not clean]):
            images, maps = (store.arrays(cell, name, shown) for name in ("kept", "maps"))
            for key in sorted(sources):
                id_ = key.partition("|")[2]
                goals = [name.partition("|")[0] for name in images if name.partition("|")[2] == id_]
                if goals:
                    frame = _frame(id_, cell, goals[-1], sources[key], images, maps)
                    place = (cell.names["data"], id_, cell.names["perturbation"])
                    found.setdefault(place, {})[cell.names["model"]] = frame
    return [Scene(id_, outcome, frames, palettes[data]) for (data, id_, outcome), frames in found.items()]


def _shown(cells: list[Cell]) -> list[Cell]:
    """A few, spread evenly over the plan; damage to a part is shown before damage to all."""
    local = [cell for cell in cells if cell.perturbation.get("region")] or cells
    return local[:: max(1, -(-len(local) // OUTCOMES))]


def _frame(
    id_: str, cell: Cell, goal: str, source: np.ndarray, images: dict[str, np.ndarray], maps: dict[str, np.ndarray]
) -> Frame:
    together = goal.replace("attack-", "cumulative-")  # of several attacks: the last image, what all have fooled
    shown = together if f"{together}|{id_}" in maps else goal
    truth, clean, prediction = (maps[f"{name}|{id_}"].astype(np.int64) for name in ("truth", "clean", shown))
    return Frame(id_, cell.names["perturbation"], source, images[f"{goal}|{id_}"], truth, clean, prediction)
