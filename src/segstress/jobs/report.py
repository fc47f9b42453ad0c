"""From a folder of results to studies, and from studies to a report; no model and no dataset is needed."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..attacks import Attack
from ..core import BadInput, Perturbation, digest, perturbations, to_plain
from ..models import models
from ..reports import Frame, ImageRow, Objects, Outcome, Study, summary, write
from ..runtime import Cell, Store
from .plan import Plan, read_plan

GALLERY = 6  # images of each study in the page


def report(folders: Sequence[Path], out: Path | None = None) -> Path:
    """Write tables, figures, gallery and page; the path of the page."""
    found, place = studies(folders), out or folders[0] / "report"
    if (place / "index.html").exists():  # an earlier report: files that this one has no more must not stay
        for part in ("tables", "figures", "gallery"):
            shutil.rmtree(place / part, ignore_errors=True)
    return write(found, place, title=" and ".join(folder.resolve().name for folder in folders))


def figures(folders: Sequence[Path]) -> dict[str, Any]:
    """Every figure as plain data, for `report --json`."""
    return summary(studies(folders))


def studies(folders: Iterable[Path]) -> list[Study]:
    """One study for each model, dataset and threat found in the folders."""
    return [study for folder in folders for study in _studies(folder)]


def _studies(folder: Path) -> list[Study]:
    store = Store(folder)
    if not store.cells():
        raise BadInput(f"{folder} holds no results; expected a folder made by segstress run or segstress attack")
    cells = _declared(store.cells(), read_plan(folder / "plan.yaml"))
    found = []
    for clean in (cell for cell in cells if cell.perturbation["kind"] == "clean"):
        same = [cell for cell in cells if (cell.prints, cell.seed) == (clean.prints, clean.seed) and cell is not clean]
        built = [(cell, perturbations.build(cell.perturbation)) for cell in same]
        threats = list(dict.fromkeys(_threat(change) for _, change in built)) or [""]
        for threat in threats:
            members = [(cell, change) for cell, change in built if _threat(change) == threat]
            found.append(_study(store, clean, members, threat))
    return found


def _declared(cells: list[Cell], plan: Plan) -> list[Cell]:
    """Cells in the order of the plan."""
    order = [*map(models.spec, map(models.build, plan.models)), *map(perturbations.spec, plan.changes())]
    place = {digest(spec): number for number, spec in enumerate(order)}
    last = len(place)  # for what another version of segstress stored
    return sorted(
        cells, key=lambda cell: [place.get(digest(dict(spec)), last) for spec in (cell.model, cell.perturbation)]
    )


def _threat(change: Perturbation) -> str:
    return str(change.threat) if isinstance(change, Attack) else ""


def _study(store: Store, clean: Cell, members: Sequence[tuple[Cell, Perturbation]], threat: str) -> Study:
    ids = tuple(sorted({row["image"] for row in store.rows(clean, "images")}))
    base = _outcome(store, clean, perturbations.build(clean.perturbation), ids)
    outcomes = tuple(_outcome(store, cell, change, ids) for cell, change in members)
    radii = {change.threat.radius for _, change in members if isinstance(change, Attack)}
    radius = min(radii, default=math.inf)
    facts = clean.facts
    return Study(
        model=clean.names["model"],
        data=clean.names["data"],
        eps=radius if math.isfinite(radius) else None,
        threat=threat,
        classes=tuple(facts["classes"]),
        background=facts["background"],
        void=facts["void"],
        palette=tuple(tuple(colour) for colour in facts["palette"]),
        ids=ids,
        clean=base.clean,
        clean_answered=base.answered,
        outcomes=outcomes,
        objects=_objects(store, clean, members, ids),
        frames=_frames(store, clean, members, ids),
        warnings=_warnings(base),
        provenance=_provenance(store, clean),
    )


def _outcome(store: Store, cell: Cell, change: Perturbation, ids: Sequence[str]) -> Outcome:
    rows = store.rows(cell, "images")
    fine = {row["image"] for row in rows if row["status"] == "ok"} - {
        r["image"] for r in rows if r["status"] == "error"
    }
    place = {id_: index for index, id_ in enumerate(ids)}
    counts: dict[tuple[str, str, str], np.ndarray] = {}
    for row in store.rows(cell, "counts"):
        if row["image"] in fine and row["image"] in place:
            key = (row["state"], row["goal"], row["zone"])
            table = counts.setdefault(key, np.zeros((len(ids), len(cell.facts["classes"]), 3), dtype=np.int64))
            table[place[row["image"]], row["class"]] = row["hits"], row["predicted"], row["actual"]
    goals = tuple(dict.fromkeys(row["goal"] for row in rows if row["status"] == "ok")) or ("any",)
    return Outcome(
        label=change.name if isinstance(change, Attack) else change.label,
        about=_about(change),
        kind=str(cell.perturbation["kind"]),
        goals=goals,
        counts={(goal, zone): table for (state, goal, zone), table in counts.items() if state == "perturbed"},
        clean={zone: table for (state, goal, zone), table in counts.items() if state == "clean" and goal == goals[0]},
        answered=np.array([id_ in fine for id_ in ids], dtype=bool),
        rows=tuple(ImageRow(**{name: _value(row[name]) for name in ImageRow.__annotations__}) for row in rows),
    )


def _about(change: Perturbation) -> str:
    """Its settings in one line, for the reader."""
    inner = change.algorithm if isinstance(change, Attack) else change
    settings = ", ".join(f"{key} {value}" for key, value in to_plain(inner).items() if value is not None)
    return f"{settings}; {change.threat}" if isinstance(change, Attack) else settings


def _value(value: Any) -> Any:
    return math.nan if value is None else value


def _objects(store: Store, clean: Cell, members: Sequence[tuple[Cell, Perturbation]], ids: Sequence[str]) -> Objects:
    """Objects of the images with a clean answer; where a perturbation has none, clean stands in, never chosen."""
    place = {id_: index for index, id_ in enumerate(ids)}
    base = {(row["image"], row["object"]): row for row in store.rows(clean, "objects")}
    right: dict[str, dict[tuple[str, int], int]] = {}
    for cell, change in members:
        rows = [row for row in store.rows(cell, "objects") if row["goal"] != "miou"]
        label = change.name if isinstance(change, Attack) else change.label
        right[label] = {(row["image"], row["object"]): row["correct"] for row in rows}
    common = sorted(base)
    column = {
        name: np.array([base[key][name] for key in common], dtype=np.int64) for name in ("class", "area", "clean")
    }
    return Objects(
        image=np.array([place[image] for image, _ in common], dtype=np.int64),
        klass=column["class"],
        area=column["area"],
        clean=column["clean"],
        correct={
            label: np.array([by.get(key, base[key]["clean"]) for key in common], dtype=np.int64)
            for label, by in right.items()
        },
    )


def _frames(
    store: Store, clean: Cell, members: Sequence[tuple[Cell, Perturbation]], ids: Sequence[str]
) -> tuple[Frame, ...]:
    """Kept pictures of a few images, for every perturbation that has them."""
    sources, truths = store.arrays(clean, "kept"), store.arrays(clean, "maps")
    chosen = [id_ for id_ in ids if f"any|{id_}" in sources][:GALLERY]
    frames = []
    for cell, change in members:
        images, maps = store.arrays(cell, "kept"), store.arrays(cell, "maps")
        for id_ in chosen:
            goal = "accuracy" if f"accuracy|{id_}" in images else "any"
            if f"{goal}|{id_}" in images:
                frames.append(
                    Frame(
                        image_id=id_,
                        outcome=change.name if isinstance(change, Attack) else change.label,
                        image=sources[f"any|{id_}"],
                        perturbed=images[f"{goal}|{id_}"],
                        truth=truths[f"truth|{id_}"].astype(np.int64),
                        clean=truths[f"clean|{id_}"].astype(np.int64),
                        prediction=maps[f"{goal}|{id_}"].astype(np.int64),
                    )
                )
    return tuple(frames)


def _warnings(base: Outcome) -> tuple[str, ...]:
    """What is to be said of images apart from attacks: unreadable, skipped or converted, each once."""
    return tuple(dict.fromkeys(f"{row.image}: {row.message}" for row in base.rows if row.message))


def _provenance(store: Store, clean: Cell) -> Mapping[str, str]:
    environment = json.loads((store.folder / "environment.json").read_text())
    return {
        "model": json.dumps(clean.model),
        "model hash": clean.prints["model"],
        "data": json.dumps(clean.data),
        "data hash": clean.prints["data"],
        "seed": str(clean.seed),
        "numerics": ", ".join(f"{key} {value}" for key, value in environment["numerics"].items()),
        "versions": ", ".join(f"{key} {value}" for key, value in environment["versions"].items()),
        "machine": ", ".join(environment["machine"].values()),
    }
