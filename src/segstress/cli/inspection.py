"""Commands that look at what is there: verify, merge, compact, list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from . import options
from .bundles import WorkerOptions
from .console import complaints, console, show_grid, show_json, show_line

if TYPE_CHECKING:
    from ..evaluation.verify import Verdict

Share = Annotated[str, typer.Option(help="Share of the images without kept pictures that is attacked again.")]
All = Annotated[bool, typer.Option("--all", help="Attack every image again, those with kept pictures too.")]
Seed = Annotated[int | None, typer.Option(help="Repeat the draw of that seed; without it each draw is fresh.")]


def verify(
    runs: options.Folders,
    common: WorkerOptions,
    share: Share = "10%",
    everything: All = False,
    seed: Seed = None,
) -> None:
    """Check a run again: files and seal, tables, clean counts of all images, kept images, a share attacked again.

    Example: segstress verify runs/demo --share 25%
    """
    from ..core.shares import parse_share
    from ..evaluation.verify import verify

    part = parse_share(share)
    run_options, warn = (
        common.options(),
        partial(show_line, "warning:", style="yellow", to=complaints if common.as_json else console),
    )
    verdicts = [
        verdict
        for run in runs
        for verdict in verify(run, part, everything=everything, seed=seed, run_options=run_options, warn=warn)
    ]
    if common.as_json:
        show_json([{**asdict(verdict), "sound": verdict.sound} for verdict in verdicts])
    else:
        _show_verdicts(verdicts)
    if not all(verdict.sound for verdict in verdicts):
        raise typer.Exit(1)


def _show_verdicts(verdicts: Sequence[Verdict]) -> None:
    table = Table("cell", "rechecked", "attacked again", "accuracy", "rounded", "verdict")
    for verdict in verdicts:
        accuracies = ("" if math.isnan(value) else f"{100 * value:.2f}" for value in verdict.accuracies)
        words = "sound" if verdict.sound else f"{len(verdict.faults)} faults"
        table.add_row(verdict.cell, str(verdict.checked), str(verdict.repeated), *accuracies, words)
    show_grid(table)
    depths = ", ".join(dict.fromkeys(verdict.depth for verdict in verdicts if verdict.depth))
    console.print(f"Rounded: kept images at the depth of their source ({depths}).", soft_wrap=True)
    for reason in dict.fromkeys(verdict.rounding for verdict in verdicts if verdict.rounding):
        console.print(f"Counts may differ by 0.5 % of an image's pixels: {reason}.", soft_wrap=True)
    for verdict in verdicts:
        for fault in verdict.faults:
            show_line("fault:", f"{verdict.cell}: {fault}")


Into = Annotated[Path, typer.Option("--out", help="New folder for the whole run.")]


def merge(runs: options.Folders, out: Into, as_json: options.Json = False, plugin: options.Plugins = None) -> None:
    """Join the folders of parts of one run, each made by the same command with another --part.

    Exit code 1 where answers are still missing.

    Example: segstress merge runs/part-1 runs/part-2 --out runs/whole
    """
    from ..evaluation.merge import merge

    missing = merge(runs, out)
    if as_json:
        show_json({"folder": str(out), "missing": missing})
    if missing:
        console.print(f"{missing} answers are missing: the command of the parts with --out {out} goes on from there.")
        raise typer.Exit(1)
    console.print(f"Joined and sealed. Next: segstress report {out}", soft_wrap=True)


def compact(runs: options.Folders, as_json: options.Json = False, plugin: options.Plugins = None) -> None:
    """Join the many small files of finished runs to few; figures and seals stay as they are.

    A run does so by itself when it ends, unless it was made in parts (--part) or by an earlier version.

    Example: segstress compact runs/demo
    """
    from ..evaluation.compacting import compact_run

    done = []
    for run in runs:
        before, after = compact_run(run)
        console.print(f"{run}: {before} files of shards, now {after}", soft_wrap=True)
        done.append({"folder": str(run), "before": before, "after": after})
    if as_json:
        show_json(done)


def publish(
    source: Annotated[str, typer.Argument(help="Folder of a run or a competition, or its address.")],
    goal: Annotated[str, typer.Argument(help="Where it is copied to: an address (s3://bucket/mine) or a folder.")],
    as_json: options.Json = False,
) -> None:
    """Copy a run to an object store (fsspec), or back from one; what is there already is not copied again.

    A run that is to lie there as it is made is begun with --out s3://bucket/mine instead.

    Example: segstress publish runs/demo s3://bucket/demo
    """
    from ..core.remote import path_of
    from ..runtime.publishing import publish as copy

    copied = copy(path_of(source), path_of(goal))
    console.print(f"{goal}: {copied} files copied", soft_wrap=True)
    if as_json:
        show_json({"goal": goal, "copied": copied})


class Sort(StrEnum):
    """What can be listed."""

    attacks = "attacks"
    losses = "losses"
    corruptions = "corruptions"
    models = "models"
    datasets = "datasets"
    regions = "regions"
    targets = "targets"
    batteries = "batteries"
    plans = "plans"
    trainings = "trainings"
    metrics = "metrics"
    concordances = "concordances"
    formats = "formats"
    recipes = "recipes"
    optimisers = "optimisers"
    schedules = "schedules"
    tables = "tables"
    figures = "figures"


def list_names(
    sort: Annotated[Sort, typer.Argument(help="What to list.")],
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """List what can be named, with a line on each.

    Example: segstress list attacks
    """
    from .listing import listing

    if as_json:
        show_json(dict(listing(sort.value)))
        return
    table = Table("name", "what it is", box=None)
    for name, about in listing(sort.value):
        table.add_row(name, about)
    show_grid(table)
