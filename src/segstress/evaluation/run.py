"""The straight line of an evaluation: plan, cells, units, what is missing, answers, a folder of results."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import yaml

from ..core import BadInput, digest, seed_of, to_plain
from ..core.files import alone
from ..core.system import check_device
from ..data import datasets
from ..doctor import Diagnosis, admit, examine_model, keep_notes
from ..models import forget, models, ready
from ..planning.batching import parameters, settle
from ..planning.battery_files import label
from ..planning.channels import check_channels
from ..planning.cost import unit_passes
from ..planning.parts import check_truth
from ..planning.plan import Plan, names, read_plan
from ..results.run import Run
from ..results.seal import seal_run
from ..results.timings import note
from ..runtime import Cell, Numerics, Progress, RunOptions, Store, Unit, record, start_executor, write_text
from ..runtime.elsewhere import named_files
from .resuming import check_schema, refuse_changed_data, reopen
from .rounding import round_off
from .schedule import Phase, phases, units
from .worker import Worker
from .worst_so_far import WorstSoFar

COLUMNS = ("image", "status", "message")
GALLERY = 24  # images of each dataset that always keep their pictures


@dataclass(frozen=True)
class FinishedRun:
    """A folder of results and what went wrong on the way."""

    folder: Path
    errors: tuple[str, ...]  # images that could not be answered
    notes: tuple[str, ...]  # images that were converted or skipped


def evaluate(
    plan: Plan | Path | str | Mapping[str, Any],
    out: Path | str | None = None,
    run_options: RunOptions | None = None,
    progress: Progress | None = None,
) -> FinishedRun:
    """Answer all that a plan asks and that its folder does not hold yet."""
    plan = plan if isinstance(plan, Plan) else read_plan(plan)
    run_options, progress = run_options or RunOptions(), progress or Progress()
    folder = Path(out) if out else Path("runs") / _slug(plan)
    check_device(plan.numerics.device)
    with alone(folder):
        check_truth(plan)
        check_channels(plan)
        store = Store(folder)
        check_schema(store)
        cells, before, numerics = _survey(plan, folder)
        cells = _admit(store, cells)
        admit(plan, before)
        _warn(before, progress)
        sources = [path for model in map(models.build, plan.models) for path in model.sources()]
        record(folder, numerics, allow_other=run_options.other_numerics, sources=sources)
        labelled = replace(plan, battery_label=_battery_label(plan), numerics=numerics)
        write_text(folder / "plan.yaml", yaml.safe_dump(to_plain(labelled), sort_keys=False))
        sets = {cell.fingerprints["data"]: datasets.build(cell.data) for cell in cells}
        files = {data: found for data, dataset in sets.items() if (found := dataset.files())}
        store.ask(cells, {data: plan.ids(dataset) for data, dataset in sets.items()}, files)
        reopen(store, progress)
        worker = Worker(folder, numerics, _pictured(plan, cells), tuple(plan.plugins), plan.done_at)
        for phase in phases(plan, store, cells, run_options.workers):
            _carry_out(phase, plan, store, worker, run_options, progress)
        run = Run(folder, plan)
        after = round_off(run, cells, worker)
        _warn(after, progress)
        keep_notes(folder, [*before, *after])
        seal_run(run)
        done = FinishedRun(folder, *_messages(run))
        for note in done.notes:
            progress.warn(note)
        return done


def _survey(plan: Plan, folder: Path) -> tuple[list[Cell], list[Diagnosis], Numerics]:
    """Load each model once: the cells asked for, what speaks against it, and the images that a pass takes."""
    forget()
    prints, diagnoses, sizes = [], [], []
    for model in plan.models:
        network, weights = ready(model, plan.numerics.device, plan.numerics.torch_dtype())
        prints.append(weights)
        sizes.append(parameters(network))
        diagnoses += examine_model(plan, model, network)
    return plan.cells(prints), diagnoses, settle(plan, sizes, folder)


def _battery_label(plan: Plan) -> str:
    """Return the battery as figures name it; other attacks beside it, or a budget's selection, are mentioned."""
    if not plan.battery or plan.attacks is None:
        return ""
    beside = f" and {len(plan.perturbations)} more" if plan.perturbations else ""
    return label(plan.battery, plan.attacks) + beside + (" within a budget" if plan.budget else "")


def _warn(diagnoses: Sequence[Diagnosis], progress: Progress) -> None:
    for line in (line for diagnosis in diagnoses for line in diagnosis.lines()):
        progress.warn(line)


def _admit(store: Store, cells: Sequence[Cell]) -> list[Cell]:
    """Let a plan add cells to a folder, never change or drop one; those that are there keep their names."""
    wanted, there = {cell.identity for cell in cells}, store.cells()
    foreign = [cell.label for cell in there if cell.identity not in wanted and not store.drop_empty(cell)]
    if foreign:
        refuse_changed_data(store, cells)
        raise BadInput(
            f"{store.folder} holds another plan: its '{foreign[0]}' is not in this one, or was made with other "
            "weights, images or settings; choose another --out, or add to the plan instead of changing it"
        )
    names = {cell.identity: cell.names for cell in there}
    return [replace(cell, names=names.get(cell.identity, cell.names)) for cell in cells]


def _pictured(plan: Plan, cells: Sequence[Cell]) -> frozenset[str]:
    """Return the images whose pictures are kept: a few of each dataset, or all."""
    keep: set[str] = set()
    for spec in {digest(dict(cell.data)): cell.data for cell in cells}.values():
        ids = plan.ids(datasets.build(spec))
        keep.update(ids if plan.keep_images else sorted(ids, key=lambda id_: seed_of(0, id_, "gallery"))[:GALLERY])
    return frozenset(keep)


def _carry_out(
    phase: Phase, plan: Plan, store: Store, worker: Worker, run_options: RunOptions, progress: Progress
) -> None:
    """Answer what a phase is missing."""
    todo = units(
        plan, store, phase, worker.numerics.batch_size, run_options.shard_size, retry_errors=run_options.retry_errors
    )
    passes = {_key(unit): unit_passes(unit) for unit in todo}
    progress.begin(sum(passes.values()), _answers(todo))
    worst = WorstSoFar()
    files = named_files([plan.plugins, *([cell.model, cell.perturbation] for cell in phase.cells)])
    executor = start_executor(run_options, worker.numerics.threads, progress.warn, files)
    for unit, timings, left in executor.map(worker, todo):
        note(store.folder, timings)
        progress.advance(passes[_key(unit)], ", ".join(filter(None, (unit.label, worst.add(left)))))


def _key(unit: Unit) -> tuple[str, tuple[str, ...]]:
    return unit.steps[0][0].key, unit.batches[0]


def _answers(todo: Sequence[Unit]) -> str:
    """Return what is asked for in a line, such as "96 answers (8 images x 12 perturbations)"."""
    steps = [(cell, ids) for unit in todo for cell, ids in unit.steps if ids]
    answers = sum(len(ids) for _, ids in steps)
    models = len({cell.fingerprints["model"] for cell, _ in steps})
    sizes = {
        "images": len({(cell.fingerprints["data"], id_) for cell, ids in steps for id_ in ids}),
        "perturbations": len({digest(dict(cell.perturbation)) for cell, _ in steps}),
    } | ({"models": models} if models > 1 else {})
    whole = f" ({' x '.join(f'{size} {name}' for name, size in sizes.items())})"
    return f"{answers} answers{whole if math.prod(sizes.values()) == answers else ''}"


def _messages(run: Run) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return every image that failed, with the reason; and what else is to be said of images, each once."""
    errors: dict[str, None] = {}
    said: dict[str, set[str]] = {}
    for cell in run.cells:
        images = run.images(cell)
        messages = images.filter(pc.and_(pc.not_equal(images["message"], ""), pc.equal(images["finisher"], "")))
        for image, status, message in zip(*(messages[name].to_pylist() for name in COLUMNS), strict=True):
            if status == "error":
                errors[f"{image}: {message}"] = None
            else:
                said.setdefault(message, set()).add(image)
    notes = [
        f"{note} ({min(images)}{f' and {len(images) - 1} more' if len(images) > 1 else ''})"
        for note, images in said.items()
    ]
    return tuple(errors), tuple(sorted(notes))


def _slug(plan: Plan) -> str:
    parts = [name for name, wanted in (("objects", plan.objects), ("pixels", plan.pixels)) if wanted]
    words = (names(plan.models), names(plan.data), plan.battery or names(plan.perturbations), *parts)
    return re.sub("[^A-Za-z0-9.+]+", "-", " ".join(words)).strip("-")[:100]
