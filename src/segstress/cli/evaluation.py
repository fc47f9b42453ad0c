"""Commands that make results: run, attack, and plan, which says what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from . import options
from .bundles import AttackOptions, EvaluationOptions, ExecutionOptions
from .console import console, show_summary, show_table
from .running import carry_out, plan_of

if TYPE_CHECKING:
    from ..reports.kit.table import Table as Figures

# Rooms are imported inside the commands: they bring torch, and `segstress --help` should not wait for it.


def run(plan: options.PlanFile, common: ExecutionOptions) -> None:
    """Carry out a plan; run it again to resume.

    Example: segstress run plan.yaml --out runs/mine
    """
    from ..planning import read_plan

    settings = read_plan(plan)
    attack_and_report(replace(settings, plugins=[*settings.plugins, *(common.plugin or [])]), common)


def attack(
    model: options.Model,
    data: options.Data,
    attacks: AttackOptions,
    common: EvaluationOptions,
    exhaustive: options.Exhaustive = False,
    done_at: options.DoneAt = "0.05%",
    budget: options.Budget = "0",
) -> None:
    """Attack models on data, keep the worst of every image, and write a report.

    Example: segstress attack --model compact:cnn-normal --data shapes:test --attack pgd,segpgd --eps 8/255
    """
    spending = {"exhaustive": exhaustive, "done_at": done_at, "budget": budget}
    attack_and_report(plan_of(common, models=model, data=data, **attacks.settings(), **spending), common)


def plan(
    attacks: AttackOptions,
    common: EvaluationOptions,
    plan: options.SomePlanFile = None,
    model: options.SomeModel = None,
    data: options.SomeData = None,
) -> None:
    """Say what a run will cost before it is begun: images, passes, predicted time.

    Example: segstress plan --model compact:cnn-normal --data shapes:test --battery quick --eps 8/255
    """
    from ..planning import read_plan
    from ..planning.cost import estimate

    planned = read_plan(plan) if plan else plan_of(common, models=model or [], data=data or [], **attacks.settings())
    costs = estimate(planned, common.workers)
    table = Table("model", "data", "perturbation", "images", "forwards", "backwards", "time", title="At most")
    for cost in costs:
        table.add_row(*cost.names, str(cost.images), str(cost.forwards), str(cost.backwards), _time(cost.seconds))
    console.print(table)
    total = sum(cost.seconds for cost in costs)
    console.print(
        f"All together about {_time(total)}, from one timed pass of each model on this machine.", highlight=False
    )
    audited = planned.audited()
    if audited is not None and audited.spend < 1:
        console.print(
            f"The battery chooses its attacks on a sample, and spends at most {audited.spend:.0%} of this.",
            highlight=False,
        )


def attack_and_report(
    plan: Any, common: ExecutionOptions, beside: Sequence[Figures] = (), folder: Path | None = None
) -> None:
    """Carry out a plan of attacks and write its report, with tables from elsewhere beside it."""
    from ..evaluation.report import report, studies
    from ..reports.study.summary import summary

    def present(folder: Path) -> Path:
        evaluated = studies([folder])
        page = report([folder], beside=beside, found=evaluated)
        show_summary(summary(evaluated))
        for table in beside:
            show_table(table)
        return page

    carry_out(plan, common, present, folder=folder)


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
