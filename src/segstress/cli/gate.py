"""The command `check`: a gate that continuous integration passes or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from . import options
from .console import console, show_line

Run = Annotated[Path, Argument(help="Folder of results.")]
FailUnder = Annotated[
    list[str] | None,
    Option("--fail-under", help="figure=share, e.g. accuracy=0.4: least worst case of every study. Repeatable."),
]
Against = Annotated[
    Path | None,
    Option("--against", help="Run to be held against: same data, threat and classes; images that both answered."),
]
WorseBy = Annotated[
    float | None,
    Option(
        "--worse-by",
        min=0,
        help="With --against: points by which a figure may fall. It fails when the whole 95 % interval of the paired"
        " difference lies beyond; a fall that chance explains does not. Default: 0.",
    ),
]


def check(
    run: Run,
    fail_under: FailUnder = None,
    against: Against = None,
    worse_by: WorseBy = None,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Say which figures of a run fell, a line for each; exit code 1 where one did, or the run is not whole.

    Judged are worst cases. A run that is incomplete, unsealed or damaged does not pass whatever its figures are.

    Example: segstress check runs/new --fail-under accuracy=0.4 --against runs/old --worse-by 1.0
    """
    from ..evaluation.gate import falls, read_thresholds
    from ..evaluation.report import studies

    if worse_by is not None and against is None:
        raise typer.BadParameter("--worse-by says how far a run may be behind another; give --against RUN as well")
    thresholds = read_thresholds(fail_under or ())
    evaluated = studies([run])
    fallen = list(falls(evaluated, thresholds, studies([against]) if against else (), worse_by or 0.0))
    if as_json:
        typer.echo(json.dumps({"passed": not fallen, "falls": [fall._asdict() for fall in fallen]}, indent=1))
    else:
        for fall in fallen:
            show_line("fell:", fall.line)
        if not fallen:
            console.print(f"{run}: passed, {len(evaluated)} studies.", soft_wrap=True)
    if fallen:
        raise typer.Exit(1)
