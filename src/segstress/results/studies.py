"""From a run to studies: what was found of one model on one dataset under one threat."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..attacks.alone import Alone, by_parts
from ..core import BadInput, Perturbation, format_radius, perturbations
from ..runtime import Cell, read_json
from .frames import KeptFrames, Members, read_frames
from .gap import remaining_gap
from .part_frames import erased_frames, parts_frames
from .provenance import provenance
from .rows import ImageRows
from .run import Run
from .study import AttackSelection, Floor, Objects, Outcome, Study

CHOICE = "choice.json"
GALLERY = 24  # images of each study whose pictures are held; those of others are read when they are wanted


def read_studies(run: Run) -> list[Study]:
    """Return one study for each model, dataset and threat of a run."""
    studies = []
    for cell in (cell for cell in run.absent if cell.is_clean):
        raise BadInput(f"{run.folder}/cells/{cell.key}/cell.json is missing; run the same command again")
    for clean in (cell for cell in run.cells if cell.is_clean):
        same = [cell for cell in run.cells if beside(cell, clean)]
        others = [(cell, run.perturbations[cell.key]) for cell in same if cell is not clean]
        absent = [perturbations.build(cell.perturbation) for cell in run.absent if beside(cell, clean)]
        for threat in list(dict.fromkeys(map(_threat, [*(change for _, change in others), *absent]))) or [""]:
            members = [(cell, change) for cell, change in others if _threat(change) == threat]
            unanswered = [change for change in absent if _threat(change) == threat and not change.parts]
            studies.append(study_of(run, clean, members, unanswered))
    return studies


def beside(cell: Cell, clean: Cell) -> bool:
    """Tell whether a cell is about the same model, data and seed."""
    return (cell.fingerprints, cell.seed) == (clean.fingerprints, clean.seed)


def _threat(change: Perturbation) -> str:
    return "" if change.threat is None else str(change.threat)


def study_of(run: Run, clean: Cell, members: Members, unanswered: Sequence[Perturbation] = ()) -> Study:
    """Read the study of a model and a dataset: its clean cell, all cells under one threat, and what is gone of them."""
    ids = tuple(run.expected(clean))
    base = _outcome(run, clean, run.perturbations[clean.key], ids)
    if "all" not in base.clean:
        reason = next((row.message for row in base.rows), "; ".join(run.damage) or "no image has an answer")
        raise BadInput(f"{clean.names['model']} failed on every image of {clean.names['data']}: {reason}")
    joint = [(cell, change) for cell, change in members if not change.parts]
    threat = next((change.threat for _, change in members), None)
    facts, battery = clean.dataset_info, run.plan.battery_label if threat else ""
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
        outcomes=(
            *(_outcome(run, cell, change, ids, base) for cell, change in joint),
            *(_nothing(one, ids) for one in unanswered),
        ),
        objects=_objects(run, clean, members, unanswered, ids),
        **_pictures(run, clean, joint, ids),
        warnings=_warnings(base),
        provenance=provenance(run, clean),
        ball=str(threat).replace(f" {format_radius(threat.radius)}", "") if threat else "",
        choice=_choice(run, joint),
        done_at=run.plan.done_at,
        battery=battery,
        gap=remaining_gap(battery),
        skipped=base.rows.images("skipped"),
        damage=tuple(run.damage),
        alone=tuple(_floor(run, clean, cell, change, ids) for cell, change in members if by_parts(change)),
    )


def _shared(clean: Mapping[str, np.ndarray], base: Outcome | None) -> Mapping[str, np.ndarray]:
    """Hold counts that are those of the clean outcome once."""
    known = base.clean if base else {}
    return {
        zone: known[zone] if zone in known and np.array_equal(known[zone], table) else table
        for zone, table in clean.items()
    }


def _outcome(run: Run, cell: Cell, change: Perturbation, ids: Sequence[str], base: Outcome | None = None) -> Outcome:
    images, fine = run.images(cell), set(run.answered(cell))
    answered = np.array([id_ in fine for id_ in ids], dtype=bool)
    counts = run.counts(cell, ids)
    for table in counts.values():
        table[~answered] = 0  # of an image that failed for one goal, nothing counts
    goals = tuple(pc.unique(images.filter(pc.equal(images["status"], "ok"))["goal"]).to_pylist()) or ("any",)
    return Outcome(
        label=change.name,
        about=change.about,
        goals=goals,
        counts={(goal, zone): table for (goal, zone, state), table in counts.items() if state == "perturbed"},
        clean=_shared(
            {zone: table for (goal, zone, state), table in counts.items() if (goal, state) == (goals[0], "clean")}, base
        ),
        answered=answered,
        traces=_traces(run.traces(cell)),
        rows=ImageRows(images),
    )


def _nothing(change: Perturbation, ids: Sequence[str]) -> Outcome:
    """Return the outcome of a perturbation that the plan asks for and whose cell is not there."""
    return Outcome(
        label=change.name,
        about=change.about,
        goals=("any",),
        counts={},
        clean={},
        answered=np.zeros(len(ids), dtype=bool),
        rows=ImageRows.of(()),
    )


def _floor(run: Run, clean: Cell, cell: Cell, change: Alone, ids: Sequence[str]) -> Floor:
    return Floor(
        parts=change.parts,
        outcome=_outcome(run, cell, change, ids),
        frames=parts_frames(run, clean, cell, change),
        erased=erased_frames(run, clean, cell),
    )


def _traces(table: pa.Table) -> dict[str, dict[int, int]]:
    """Tell how an attack got on, image by image, where it says so."""
    traces: dict[str, dict[int, int]] = {}
    for image, forwards, correct in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
        traces.setdefault(image, {})[forwards] = correct
    return traces


def _choice(run: Run, members: Members) -> AttackSelection | None:
    """Return what an audit kept and dropped of these cells, where there was one."""
    labels = {cell.key: change.name for cell, change in members}
    for selection in read_choices(run.folder):
        if set(selection.kept) <= set(labels):
            kept, dropped = (tuple(labels[key] for key in keys) for keys in (selection.kept, selection.dropped))
            return replace(selection, kept=kept, dropped=dropped)
    return None


def read_choices(folder: Path) -> list[AttackSelection]:
    """Return what audits kept and dropped; nothing where there was none."""
    path = folder / CHOICE
    return list(map(AttackSelection.read, read_json(path, items="choices")["choices"])) if path.exists() else []


def _objects(
    run: Run, clean: Cell, members: Members, unanswered: Sequence[Perturbation], ids: Sequence[str]
) -> Objects:
    """Read objects of images with a clean answer; clean, never chosen, stands in where a perturbation has none."""
    base = run.objects(clean)
    after: dict[str, dict[str, np.ndarray]] = {"correct": {}, "kept": {}}
    keys = _object_keys(base)
    for cell, change in members:
        table = run.objects(cell)
        table = table.filter(pc.not_equal(table["goal"], "miou"))
        table = table.take(np.arange(len(table))[::-1])  # of several goals the last counts, here the first to be met
        rows = pc.fill_null(pc.index_in(keys, _object_keys(table)), -1).to_numpy()
        for name, by_outcome in after.items():
            values, before = table[name].to_numpy(), base[name].to_numpy()
            known = np.append(values, 0)[rows]  # the last one stands for none
            by_outcome[change.name] = np.where(rows >= 0, known, before).astype(np.int32)
    for name, by_outcome in after.items():
        by_outcome |= {change.name: base[name].to_numpy() for change in unanswered}
    return Objects(
        image=pc.index_in(base["image"], pa.array(ids, pa.string())).to_numpy().astype(np.int64),
        klass=base["class"].to_numpy(),
        area=base["area"].to_numpy(),
        clean=base["clean"].to_numpy(),
        correct=after["correct"],
        kept=after["kept"],
    )


def _object_keys(table: pa.Table) -> pa.Array:
    """Return the image and number of each object in one value."""
    keys = pc.binary_join_element_wise(table["image"], pc.cast(table["object"], pa.string()), "|")
    return keys.combine_chunks()


def _pictures(run: Run, clean: Cell, members: Members, ids: Sequence[str]) -> dict[str, Any]:
    """Return the pictures of a few images, and a reader of all others that are kept."""
    kept = set(run.kept(clean))
    pictured = [id_ for id_ in ids if id_ in kept]
    return {
        "frames": read_frames(run, clean, members, pictured[:GALLERY]),
        "more": KeptFrames(run, clean, members, pictured[GALLERY:]),
    }


def _warnings(base: Outcome) -> tuple[str, ...]:
    """Return what is to be said of images apart from attacks: unreadable, skipped or converted, each once."""
    return tuple(dict.fromkeys(f"{row.image}: {row.message}" for row in base.rows if row.message))
