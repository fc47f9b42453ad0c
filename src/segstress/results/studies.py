"""From the rows of a store to a study: what was found of one model on one dataset under one threat."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..attacks import Attack
from ..attacks.alone import Alone
from ..core import BadInput, Perturbation, digest, format_radius, perturbations, to_plain
from ..metrics.intervals import Interval
from ..models import models
from ..planning.plan import Plan, read_plan
from ..runtime import Cell, Store
from .gap import remaining_gap
from .part_frames import erased_frames, parts_frames
from .study import Choice, Floor, Frame, ImageRow, Objects, Outcome, Study

GALLERY = 6  # images of each study in the page

Members = Sequence[tuple[Cell, Perturbation]]


def read_studies(folder: Path) -> list[Study]:
    """One study for each model, dataset and threat of a folder."""
    store = Store(folder)
    if not store.cells():
        raise BadInput(f"{folder} holds no results; expected a folder made by segstress run or segstress attack")
    plan = read_plan(folder / "plan.yaml")
    cells = declared(store.cells(), plan)
    found = []
    for clean in (cell for cell in cells if cell.perturbation["kind"] == "clean"):
        same = [cell for cell in cells if (cell.prints, cell.seed) == (clean.prints, clean.seed) and cell is not clean]
        built = [(cell, perturbations.build(cell.perturbation)) for cell in same]
        threats = list(dict.fromkeys(_threat(change) for _, change in built)) or [""]
        for threat in threats:
            members = [(cell, change) for cell, change in built if _threat(change) == threat]
            found.append(study_of(store, clean, members, plan))
    return found


def declared(cells: list[Cell], plan: Plan) -> list[Cell]:
    """Cells in the order of the plan; those of a battery that this version does not know stay as they are."""
    order = [*map(models.spec, map(models.build, plan.models)), *map(perturbations.spec, _changes(plan))]
    place = {digest(spec): number for number, spec in enumerate(order)}
    last = len(place)  # for what another version of segstress stored
    return sorted(
        cells, key=lambda cell: [place.get(digest(dict(spec)), last) for spec in (cell.model, cell.perturbation)]
    )


def _changes(plan: Plan) -> list[Perturbation]:
    """What the plan asks for; without its battery where that is gone, since a report needs only its results."""
    try:
        return plan.changes()
    except BadInput:
        return replace(plan, battery=None).changes()


def _threat(change: Perturbation) -> str:
    return str(change.threat) if isinstance(change, Attack | Alone) else ""


def study_of(store: Store, clean: Cell, members: Members, plan: Plan) -> Study:
    """The study of a model and a dataset, given its clean cell and all cells under one threat."""
    ids = tuple(sorted({row["image"] for row in store.rows(clean, "images")}))
    base = _outcome(store, clean, perturbations.build(clean.perturbation), ids)
    joint = [(cell, change) for cell, change in members if not isinstance(change, Alone)]
    threat = next((change.threat for _, change in members if isinstance(change, Attack | Alone)), None)
    facts, battery = clean.facts, plan.battery_label if threat else ""
    return Study(
        model=clean.names["model"],
        data=clean.names["data"],
        eps=threat.radius if threat and math.isfinite(threat.radius) else None,
        threat=str(threat) if threat else "",
        classes=tuple(facts["classes"]),
        background=facts["background"],
        void=facts["void"],
        palette=tuple(tuple(colour) for colour in facts["palette"]),
        ids=ids,
        clean=base.clean,
        clean_answered=base.answered,
        outcomes=tuple(_outcome(store, cell, change, ids) for cell, change in joint),
        objects=_objects(store, clean, members, ids),
        frames=_frames(store, clean, joint, ids),
        warnings=_warnings(base),
        provenance=_provenance(store, clean),
        ball=str(threat).replace(f" {format_radius(threat.radius)}", "") if threat else "",
        choice=_choice(store, joint),
        done_at=plan.done_at,
        battery=battery,
        gap=remaining_gap(battery),
        alone=tuple(_alone(store, clean, cell, change, ids) for cell, change in members if isinstance(change, Alone)),
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
        label=_label(change),
        about=_about(change),
        kind=str(cell.perturbation["kind"]),
        goals=goals,
        counts={(goal, zone): table for (state, goal, zone), table in counts.items() if state == "perturbed"},
        clean={zone: table for (state, goal, zone), table in counts.items() if state == "clean" and goal == goals[0]},
        answered=np.array([id_ in fine for id_ in ids], dtype=bool),
        traces=_traces(store, cell, change),
        rows=tuple(ImageRow(**{name: _value(row[name]) for name in ImageRow.__annotations__}) for row in rows),
    )


def _alone(store: Store, clean: Cell, cell: Cell, change: Alone, ids: Sequence[str]) -> Floor:
    return Floor(
        parts=change.parts,
        outcome=_outcome(store, cell, change, ids),
        frames=parts_frames(store, clean, cell, change),
        erased=erased_frames(store, clean, cell),
    )


def _label(change: Perturbation) -> str:
    """Its name within a study, whose threat need not be repeated."""
    return change.name if isinstance(change, Attack | Alone) else change.label


def _traces(store: Store, cell: Cell, change: Perturbation) -> dict[str, dict[int, int]]:
    """How an attack got on, where it was after every valid pixel and not after some of them."""
    found: dict[str, dict[int, int]] = {}
    if isinstance(change, Attack) and change.aim is None:
        for row in store.rows(cell, "traces"):
            found.setdefault(row["image"], {})[row["forwards"]] = row["correct"]
    return found


def _choice(store: Store, members: Members) -> Choice | None:
    """What an audit kept and dropped of these cells, where there was one."""
    path = store.folder / "choice.json"
    labels = {cell.key: _label(change) for cell, change in members}
    for plain in json.loads(path.read_text()) if path.exists() else []:
        if set(plain["kept"]) <= set(labels):
            return Choice(
                kept=tuple(labels[key] for key in plain["kept"]),
                dropped=tuple(labels[key] for key in plain["dropped"]),
                images=plain["images"],
                loss_accuracy=Interval(*plain["loss_accuracy"]),
                loss_nmiou=Interval(*plain["loss_nmiou"]),
            )
    return None


def _about(change: Perturbation) -> str:
    """Its settings in one line, for the reader."""
    inner = change.algorithm if isinstance(change, Attack | Alone) else change
    settings = ", ".join(f"{key} {value}" for key, value in to_plain(inner).items() if value is not None)
    return f"{settings}; {change.threat}" if isinstance(change, Attack | Alone) else settings


def _value(value: Any) -> Any:
    return math.nan if value is None else value


def _objects(store: Store, clean: Cell, members: Members, ids: Sequence[str]) -> Objects:
    """Objects of the images with a clean answer; where a perturbation has none, clean stands in, never chosen."""
    place = {id_: index for index, id_ in enumerate(ids)}
    base = {(row["image"], row["object"]): row for row in store.rows(clean, "objects")}
    common = sorted(base)
    column = {key: np.array([base[each][key] for each in common], np.int64) for key in ("class", "area", "clean")}
    after: dict[str, dict[str, np.ndarray]] = {"correct": {}, "kept": {}}
    for cell, change in members:
        rows = [row for row in store.rows(cell, "objects") if row["goal"] != "miou"]
        found = {(row["image"], row["object"]): row for row in rows}
        for key, by in after.items():
            by[_label(change)] = np.array([found.get(each, base[each])[key] for each in common], np.int64)
    return Objects(
        image=np.array([place[image] for image, _ in common], dtype=np.int64),
        klass=column["class"],
        area=column["area"],
        clean=column["clean"],
        correct=after["correct"],
        kept=after["kept"],
    )


def _frames(store: Store, clean: Cell, members: Members, ids: Sequence[str]) -> tuple[Frame, ...]:
    """Kept pictures of a few images, for every perturbation that has them."""
    kept = set(store.kept(clean))
    chosen = [id_ for id_ in ids if id_ in kept][:GALLERY]
    sources, truths = (store.arrays(clean, name, chosen) for name in ("kept", "maps"))
    frames = []
    for cell, change in members:
        images, maps = (store.arrays(cell, name, chosen) for name in ("kept", "maps"))
        for id_ in chosen:
            goal = "accuracy" if f"accuracy|{id_}" in images else "any"
            if f"{goal}|{id_}" in images:
                frames.append(
                    Frame(
                        image_id=id_,
                        outcome=_label(change),
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
