"""The smallest harmful change: a plan without radius, and the tables and curves of its run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..attacks import Attack
from ..attacks import attacks as known
from ..core import BadInput, Norm, perturbations
from ..reports.minimal import Find, table
from ..reports.minimal_page import write_page
from ..reports.table import Table
from ..runtime import Cell, Store
from . import timings


def specs(attacks: Sequence[str], shares: Sequence[float], **threat: Any) -> list[dict[str, Any]]:
    """Every attack aimed at every share of won pixels."""
    given = {key: value for key, value in threat.items() if value is not None}
    asked = []
    for share in shares:
        for attack in attacks:
            plain = known.read(attack)
            asked.append({"attack": plain.pop("kind"), **plain, **given, "enough": share})
    return asked


def finds(folder: Path, one_trajectory: bool = False) -> list[Find]:
    """What a run found; at a threshold only by attacks aimed at it, or also on the way of those aimed higher."""
    store, seconds = Store(folder), timings.read(folder)
    found = [find for cell in store.cells() for find in _finds(store, cell, seconds, one_trajectory)]
    if not found:
        raise BadInput(f"{folder} holds no search for a smallest delta; expected a folder made by segstress minimal")
    return found


def _finds(store: Store, cell: Cell, seconds: Mapping[tuple[str, str], float], one_trajectory: bool) -> Iterator[Find]:
    change = perturbations.build(cell.perturbation)
    if not isinstance(change, Attack) or math.isfinite(change.threat.radius):
        return
    threat = change.threat
    aim = str(threat).removeprefix(f"{threat.norm} smallest")  # target and reference, where they are not the usual
    aimed = f"{100 * threat.enough:g}%"
    for row in store.rows(cell, "images"):
        if row["status"] != "ok" or (row["goal"] != aimed and not one_trajectory):
            continue
        share = float(row["goal"].rstrip("%")) / 100
        way = "" if row["goal"] == aimed else f" (on the way to {aimed})"
        yield Find(
            model=cell.names["model"],
            data=cell.names["data"],
            attack=f"{change.name}{aim}{way}",
            norm=threat.norm,
            threshold=row["goal"],
            image=row["image"],
            success=row["won"] >= share - 1e-9,
            size=row["size"],
            raw_size=row["raw_size"],
            **{norm: row[norm] for norm in ("linf", "l2", "l1")},
            longest=_longest(threat.norm, row["height"] * row["width"]),
            won=row["won"],
            success_8bit=row["won_8bit"] >= share - 1e-9,
            forwards=row["forwards"],
            backwards=row["backwards"],
            seconds=seconds.get((cell.key, row["image"]), math.nan),
        )


def _longest(norm: Norm, pixels: int) -> float:
    """The size of the largest delta that the box allows an image of three channels."""
    return {"linf": 1.0, "l2": math.sqrt(3 * pixels), "l1": 3.0 * pixels, "l0": float(pixels)}[norm]


def report(folder: Path, one_trajectory: bool = False) -> tuple[Table, Path]:
    """Write page, tables and curves into the run's report folder; the table of sizes and the page."""
    found = finds(folder, one_trajectory)
    page = write_page(found, folder / "report", folder.resolve().name, _remarks(folder, one_trajectory))
    return table(found), page


def _remarks(folder: Path, one_trajectory: bool) -> list[str]:
    """What a reader must know of the way of the run."""
    remarks = []
    if json.loads((folder / "environment.json").read_text())["numerics"].get("fold"):
        remarks.append(
            "Gradients came from a copy of the model with BatchNorm folded into its convolutions, where that changed no"
            " logit by more than 0.001; every result was judged by the model itself."
        )
    if one_trajectory:
        remarks.append("Lower thresholds are also shown from runs that were aimed at a higher one, and named so.")
    missed = sum(row["status"] != "ok" for cell in Store(folder).cells() for row in Store(folder).rows(cell, "images"))
    if missed:
        remarks.append(f"{missed} answers are missing because their image was skipped or could not be used.")
    return remarks
