"""The straight line of an evaluation: plan, cells, units, what is missing, answers, a folder of results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from ..core import BadInput, digest, seed_of, to_plain
from ..data import datasets
from ..doctor import Diagnosis, admit, examine_model
from ..models import forget, models, ready
from ..planning.batching import parameters, settle
from ..planning.battery_files import label
from ..planning.channels import check_channels
from ..planning.cost import unit_passes
from ..planning.parts import check_truth
from ..planning.plan import Plan, names, read_plan
from ..results.run import Run
from ..results.timings import note
from ..runtime import Cell, Numerics, Progress, RunOptions, Store, prepare, record, start_executor, write_text
from ..runtime.compaction import MANY, compact_new
from ..runtime.elsewhere import named_files
from ..runtime.sharing import Sharing, share
from .closing import FinishedRun, close, tell
from .resuming import check_schema, refuse_changed_data, reopen
from .schedule import SAMPLE, Phase, phases, units
from .units import Units
from .worker import Worker
from .worst_so_far import WorstSoFar

GALLERY = 24  # images of each dataset that always keep their pictures


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
    here = _device_here(plan, run_options)
    with share(folder, run_options.part) as sharing:
        check_truth(plan)
        check_channels(plan)
        cells, before, numerics = _survey(plan, folder, here)
        store, sets = Store(folder), {cell.fingerprints["data"]: datasets.build(cell.data) for cell in cells}
        images = {data: plan.ids(dataset) for data, dataset in sets.items()}
        identity = digest([[cell.identity for cell in cells], images, to_plain(numerics), run_options.shard_size])
        with sharing.turn():
            sharing.join(identity)
            check_schema(store)
            cells = _admit(store, cells)
            admit(plan, before)
            tell(before, progress)
            _record(plan, folder, numerics, run_options)
            store.write_request(
                cells, images, {data: files for data, dataset in sets.items() if (files := dataset.files())}
            )
            if sharing.first:
                reopen(store, progress)
        worker = Worker(folder, numerics, _pictured(plan, cells), tuple(plan.plugins), plan.done_at)
        todo = phases(plan, store, cells, run_options.workers)
        while phase := _next(todo, sharing):
            _run_phase(phase, plan, store, worker, run_options, progress, sharing)
            if not sharing.complete:
                break
        with sharing.turn():
            near = replace(worker, numerics=replace(numerics, device=here))
            return close(Run(folder, plan), cells, near, before, progress, sharing)


def _device_here(plan: Plan, run_options: RunOptions) -> str:
    """Return the device on which this process looks at models, which may lack that of its workers."""
    here = prepare(run_options, plan.numerics.device)
    if plan.budget and here != plan.numerics.device:
        raise BadInput(
            f"--budget: expected a machine with device '{plan.numerics.device}', on which a pass is timed first; "
            "found none here: start the command where there is one, or leave --budget out"
        )
    return here


def _record(plan: Plan, folder: Path, numerics: Numerics, run_options: RunOptions) -> None:
    """Write down the plan, and the surroundings in which it is carried out."""
    sources = [path for model in map(models.build, plan.models) for path in model.sources()]
    record(folder, numerics, allow_other=run_options.other_numerics, sources=sources)
    labelled = replace(plan, battery_label=_battery_label(plan), numerics=numerics)
    write_text(folder / "plan.yaml", yaml.safe_dump(to_plain(labelled), sort_keys=False))


def _next(todo: Iterator[Phase], sharing: Sharing) -> Phase | None:
    """Go on to the next phase, one process at a time: what it attacks may be chosen now."""
    with sharing.turn():
        return next(todo, None)


def _survey(plan: Plan, folder: Path, device: str) -> tuple[list[Cell], list[Diagnosis], Numerics]:
    """Load each model once: the cells asked for, what speaks against it, and the images that a pass takes."""
    forget()
    looked = plan
    if device != plan.numerics.device:
        looked = replace(plan, numerics=replace(plan.numerics, device=device))
    prints, diagnoses, sizes = [], [], []
    for model in plan.models:
        network, weights = ready(model, device, plan.numerics.torch_dtype())
        prints.append(weights)
        sizes.append(parameters(network))
        diagnoses += examine_model(looked, model, network)
    return plan.cells(prints), diagnoses, settle(plan, sizes, folder)


def _battery_label(plan: Plan) -> str:
    """Return the battery as figures name it; other attacks beside it, or a budget's selection, are mentioned."""
    if not plan.battery or plan.attacks is None:
        return ""
    beside = f" and {len(plan.perturbations)} more" if plan.perturbations else ""
    return label(plan.battery, plan.attacks) + beside + (" within a budget" if plan.budget else "")


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


def _run_phase(
    phase: Phase,
    plan: Plan,
    store: Store,
    worker: Worker,
    run_options: RunOptions,
    progress: Progress,
    sharing: Sharing,
) -> None:
    """Answer what a phase is missing."""

    retry = run_options.retry_errors

    def find() -> Units:
        nonlocal retry
        size = worker.numerics.batch_size
        todo = units(plan, store, phase, size, run_options.shard_size, retry_errors=retry)
        retry = False  # what fails again has been tried
        if todo or sharing.first:
            progress.begin(todo.passes(), todo.describe())
        return todo

    worst, answered = WorstSoFar(), 0
    files = named_files([plan.plugins, *([cell.model, cell.perturbation] for cell in phase.cells)])
    executor = start_executor(run_options, worker.numerics.threads, progress.warn, files)
    for todo in sharing.rounds(phase.name, find, everything=phase.name == SAMPLE):
        for unit, timings, left in executor.map(worker, todo):
            sharing.finish(phase.name, unit)
            note(store.folder, timings, run_options.part)
            progress.advance(unit_passes(unit), ", ".join(filter(None, (unit.label, worst.add(left)))))
            answered += 1
            if answered % MANY == 0:
                _join_new(store, phase.cells, sharing)


def _join_new(store: Store, cells: Sequence[Cell], sharing: Sharing) -> None:
    """Keep the number of files low while the run goes on, unless others may still read what they have seen."""
    with sharing.turn():
        if sharing.alone:
            for cell in cells:
                compact_new(store, cell)


def _slug(plan: Plan) -> str:
    parts = [name for name, wanted in (("objects", plan.objects), ("pixels", plan.pixels)) if wanted]
    words = (names(plan.models), names(plan.data), plan.battery or names(plan.perturbations), *parts)
    return re.sub("[^A-Za-z0-9.+]+", "-", " ".join(words)).strip("-")[:100]
