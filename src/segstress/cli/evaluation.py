"""Commands that make results: run, attack, and plan, which says what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from . import options
from .bundles import AttackOptions, EvaluationOptions
from .console import console, duration, show_grid, show_json, show_summary, show_table
from .minimal import present_searches
from .protocols import naming
from .running import Presented, carry_out
from .spatial_run import present_damage

if TYPE_CHECKING:
    from ..planning import Plan
    from ..planning.cost import Cost
    from ..planning.precision import Precision
    from ..reports.kit.table import Table as Figures

# Rooms are imported inside the commands: they bring torch, and `segstress --help` should not wait for it.


def run(
    plan: options.PlanFile,
    common: EvaluationOptions,
    model: options.SomeModel = None,
    data: options.SomeData = None,
    weights: options.Weights = None,
    target: options.Target = None,
) -> None:
    """Carry out a plan, or a paper's protocol by its name (segstress list plans); run it again to resume.

    What is given beside it counts instead of what the plan says; what is not stays as the plan has it.

    Example: segstress run plan.yaml --out runs/mine
    """
    from ..planning.papers import named_plan, paper_at

    protocol = paper_at(plan)
    changes = {**common.settings(), "models": model, "data": data, "weights": weights, "target": target}
    folder = common.folder(plan.name) if protocol else common.out  # a protocol lies under its own name
    with naming(protocol.plan if protocol else {}, changes, "" if model else "--model"):
        settings, page = named_plan(plan, changes)
        if page == "study":
            attack_and_report(settings, common, folder=folder)
        else:
            carry_out(settings, common, present_searches if page == "minimal" else present_damage, folder=folder)


def attack(
    model: options.Model,
    data: options.Data,
    attacks: AttackOptions,
    common: EvaluationOptions,
) -> None:
    """Attack models on data, keep the worst of every image, and write a report.

    Example: segstress attack --model compact:cnn-normal --data shapes:test --attack pgd,segpgd --eps 8/255
    """
    attack_and_report(common.plan(models=model, data=data, **attacks.settings()), common)


def plan(
    attacks: AttackOptions,
    common: EvaluationOptions,
    plan: options.SomePlanFile = None,
    model: options.SomeModel = None,
    data: options.SomeData = None,
) -> None:
    """Say what a run will cost before it is begun: images, passes, predicted time; of a plan, or of what attack takes.

    Example: segstress plan --model compact:cnn-normal --data shapes:test --battery quick --eps 8/255
    """
    from ..planning.cost import estimate
    from ..planning.papers import named_plan, paper_at

    protocol = paper_at(plan) if plan else None
    changes = {"models": model, "data": data, "weights": attacks.weights, "target": attacks.target}
    with naming(protocol.plan if protocol else {}, changes, "" if model else "--model"):
        if plan:
            answered = [option for option in attacks.typed() if option not in ("--weights", "--target")]
            if answered:
                raise typer.BadParameter(f"{', '.join(answered)}: {plan} says so itself; leave these out, or the plan")
            planned, _ = named_plan(plan, {**common.settings(), **changes})
        else:
            planned = common.plan(models=model or [], data=data or [], **attacks.settings())
        costs = estimate(planned, common.workers)
    if common.as_json:
        show_json(list(map(asdict, costs)))
    else:
        _show_costs(planned, costs)


def _show_costs(planned: Plan, costs: Sequence[Cost]) -> None:
    """Print passes and time of every cell, and how sure the figures will be."""
    from ..planning.precision import expected_precision

    table = Table("model", "data", "perturbation", "images", "forwards", "backwards", "time", title="At most")
    for cost in costs:
        table.add_row(*cost.names, str(cost.images), str(cost.forwards), str(cost.backwards), duration(cost.seconds))
    show_grid(table)
    total = sum(cost.seconds for cost in costs)
    console.print(f"All together about {duration(total)}, from one timed pass of each model on this machine.")
    for precision in filter(lambda foretold: foretold.known, expected_precision(planned)):
        console.print(_width(precision), soft_wrap=True)
    audited = planned.audited()
    if audited is not None and audited.spend < 1:
        console.print(
            f"The battery chooses its attacks on a sample, and spends at most {audited.spend:.0%} of this.",
        )


def attack_and_report(
    plan: Plan, common: EvaluationOptions, beside: Sequence[Figures] = (), folder: Path | None = None
) -> None:
    """Carry out a plan of attacks and write its report, with tables from elsewhere beside it."""
    from ..evaluation.report import report, studies
    from ..reports.study.summary import summary

    def present(folder: Path) -> Presented:
        evaluated = studies([folder])
        page, figures = report([folder], beside=beside, known=evaluated), summary(evaluated)
        show_summary(figures)
        for table in beside:
            show_table(table)
        return Presented(page, figures)

    carry_out(plan, common, present, folder=folder)


def _width(precision: Precision) -> str:
    """Tell how sure the figures will be."""
    model, data = precision.names
    return (
        f"{model} on {data}: with {precision.images} images expect 95 % intervals of about"
        f" +-{100 * precision.accuracy:.1f} points of accuracy and +-{100 * precision.nmiou:.1f} of NmIoU, from the"
        f" spread of {precision.looked} clean images."
    )
