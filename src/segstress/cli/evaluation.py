"""Commands that make results: run, attack, and plan, which says what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from . import options
from .console import console, show_summary, show_table

# Jobs are imported inside the commands: they bring torch, and `segstress --help` should not wait for it.


def run(
    plan: options.PlanFile,
    out: options.Out = None,
    workers: options.Workers = 0,
    shard_size: options.ShardSize = 4,
    retry_errors: options.RetryErrors = False,
    other_numerics: options.OtherNumerics = False,
) -> None:
    """Carry out a plan; run it again to resume.

    Example: segstress run plan.yaml --out runs/mine
    """
    from ..planning import read_plan
    from ..runtime import RunOptions

    carry_out(read_plan(plan), out, RunOptions(workers, shard_size, retry_errors, other_numerics))


def attack(
    model: options.Model,
    data: options.Data,
    attack: options.Attacks = None,
    battery: options.Battery = None,
    objects: options.Objects = False,
    pixels: options.Pixels = None,
    alone: options.Alone = None,
    eps: options.Eps = None,
    norm: options.Norm = None,
    target: options.Target = None,
    out: options.Out = None,
    limit: options.Limit = None,
    batch_size: options.BatchSize = 1,
    threads: options.Threads = 1,
    fold: options.Fold = False,
    device: options.Device = "cpu",
    seed: options.Seed = 0,
    keep_images: options.KeepImages = False,
    exhaustive: options.Exhaustive = False,
    done_at: options.DoneAt = "0.05%",
    budget: options.Budget = "0",
    workers: options.Workers = 0,
    shard_size: options.ShardSize = 4,
    retry_errors: options.RetryErrors = False,
    other_numerics: options.OtherNumerics = False,
    plugin: options.Plugins = None,
) -> None:
    """Attack models on data, keep the worst of every image, and write a report.

    Example: segstress attack --model compact:cnn-normal --data shapes:test --attack pgd,segpgd --eps 8/255
    """
    from ..runtime import RunOptions

    asked = plan_of(
        attack,
        battery,
        objects=objects,
        pixels=pixels,
        alone=alone,
        models=model,
        data=data,
        eps=eps,
        norm=norm,
        target=target,
        limit=limit,
        seed=seed,
        keep_images=keep_images,
        exhaustive=exhaustive,
        done_at=done_at,
        budget=budget,
        plugins=plugin or [],
        numerics={"device": device, "batch_size": batch_size, "threads": threads, "fold": fold},
    )
    carry_out(asked, out, RunOptions(workers, shard_size, retry_errors, other_numerics))


def plan(
    plan: options.SomePlanFile = None,
    model: options.SomeModel = None,
    data: options.SomeData = None,
    attack: options.Attacks = None,
    battery: options.Battery = None,
    objects: options.Objects = False,
    pixels: options.Pixels = None,
    alone: options.Alone = None,
    eps: options.Eps = None,
    norm: options.Norm = None,
    target: options.Target = None,
    limit: options.Limit = None,
    device: options.Device = "cpu",
    workers: options.Workers = 0,
) -> None:
    """Say what a run will cost before it is begun: images, passes, predicted time.

    Example: segstress plan --model compact:cnn-normal --data shapes:test --battery quick --eps 8/255
    """
    from ..planning import read_plan
    from ..planning.cost import estimate

    given = {"models": model or [], "data": data or [], "eps": eps, "norm": norm, "target": target, "limit": limit}
    given |= {"objects": objects, "pixels": pixels, "alone": alone}
    asked = read_plan(plan) if plan else plan_of(attack, battery, **given, numerics={"device": device})
    costs = estimate(asked, workers)
    table = Table("model", "data", "perturbation", "images", "forwards", "backwards", "time", title="At most")
    for cost in costs:
        table.add_row(*cost.names, str(cost.images), str(cost.forwards), str(cost.backwards), _time(cost.seconds))
    console.print(table)
    total = sum(cost.seconds for cost in costs)
    console.print(
        f"All together about {_time(total)}, from one timed pass of each model on this machine.", highlight=False
    )
    audited = asked.audited()
    if audited is not None and audited.spend < 1:
        console.print(
            f"The battery chooses its attacks on a sample, and spends at most {audited.spend:.0%} of this.",
            highlight=False,
        )


def plan_of(attack: str | None, battery: str | None, **settings: Any) -> Any:
    """The plan that the options of a command spell out."""
    from ..planning import read_plan

    parts = bool(settings.get("objects") or settings.get("pixels"))
    if (attack and battery) or not (attack or battery or parts):
        raise typer.BadParameter("give either --attack NAME[,NAME...] or --battery NAME, or --objects or --pixels N")
    if settings.get("alone") and not parts:
        raise typer.BadParameter("--alone says how --objects or --pixels are attacked; give one of them")
    return read_plan({"perturbations": attack.split(",") if attack else [], "battery": battery, **settings})


def carry_out(plan: Any, out: Path | None, ways: Any, beside: Sequence[Any] = ()) -> None:
    """Evaluate, report, print, with tables from elsewhere beside it; exit code 1 where an image has no answer."""
    from ..evaluation import evaluate
    from ..evaluation.report import figures, report
    from .progress import watch

    with watch(console, "attacking") as progress:
        done = evaluate(plan, out, ways, progress)
    page = report([done.folder], beside=beside)
    show_summary(figures([done.folder]))
    for table in beside:
        show_table(table)
    console.print(f"Report: {page}", highlight=False, soft_wrap=True)
    if done.errors:
        for line in done.errors[:10]:
            console.print(f"[red]error:[/red] {line}", highlight=False, soft_wrap=True)
        console.print(f"{len(done.errors)} images could not be answered; the report names them.", highlight=False)
        raise typer.Exit(1)


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
