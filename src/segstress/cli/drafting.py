"""Commands about plans as files: init, which writes one, and schema, which says what one may hold."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from . import options
from .console import console, show_json

File = Annotated[Path, Option("--out", help="The file to write.")]
Force = Annotated[bool, Option("--force", help="Write over a file that is there.")]
QUESTIONS = {  # and what is meant without an answer
    "model": ("Model (segstress list models)", "compact:cnn-normal"),
    "data": ("Data (segstress list datasets)", "shapes:test"),
    "battery": ("Battery (segstress list batteries)", "quick"),
    "eps": ("Radius in [0, 1] units", "8/255"),
}


class SchemaSort(StrEnum):
    """What has a schema."""

    plan = "plan"
    battery = "battery"
    training = "training"
    contest = "contest"


def init(
    path: File = Path("plan.yaml"),
    model: options.SomeModel = None,
    data: options.SomeData = None,
    battery: options.Battery = None,
    attack: options.Attacks = None,
    eps: options.Eps = None,
    limit: options.Limit = None,
    force: Force = False,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Write a commented plan from options; what they leave open is asked where someone sits at the terminal.

    Example: segstress init --model compact:cnn-normal --data shapes:test --battery quick --eps 8/255 --out plan.yaml
    """
    from ..core.files import write
    from ..planning.draft import draft

    if path.exists() and not force:
        raise typer.BadParameter(f"{path} is there already; give another --out, or --force to write over it")
    given = {"model": model, "data": data, "battery": battery, "eps": eps}
    if attack:
        given.pop("battery")
    known = {key: value or _ask(key) for key, value in given.items()}
    wanted: dict[str, Any] = {
        "models": _listed(known.pop("model")),
        "data": _listed(known.pop("data")),
        "perturbations": attack.split(",") if attack else None,
        **known,
        "limit": limit,
        "plugins": plugin,
    }
    write(path, draft({key: value for key, value in wanted.items() if value}).encode())
    console.print(f"Plan: {path}", soft_wrap=True)
    console.print(f"Next: segstress plan {path}; segstress run {path} --out runs/{path.stem}", soft_wrap=True)
    if as_json:
        show_json({"plan": str(path)})


def _ask(key: str) -> str:
    question, default = QUESTIONS[key]
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"expected --{key}, e.g. --{key} {default}; questions are asked at a terminal only")
    return str(typer.prompt(question, default=default))


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def schema(sort: Annotated[SchemaSort, Argument(help="What to describe.")] = SchemaSort.plan) -> None:
    """Print the JSON schema of plans, batteries, trainings or competitions, for editors that check while you type.

    Example: segstress schema plan > plan.schema.json
    """
    from ..contests.plan import Contest
    from ..fitting.plan import TrainingPlan
    from ..planning.battery_files import Battery
    from ..planning.plan import Plan
    from ..planning.schema import schema_of

    kinds = {
        SchemaSort.plan: Plan,
        SchemaSort.battery: Battery,
        SchemaSort.training: TrainingPlan,
        SchemaSort.contest: Contest,
    }
    typer.echo(json.dumps(schema_of(kinds[sort]), indent=1))
