"""What every command that runs shares: the plan from its options, the run, the report, what failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from .bundles import EvaluationOptions
from .console import console, show_json, show_line

if TYPE_CHECKING:
    from ..reports.kit.table import Table


class Presented(NamedTuple):
    """What a run ends with: its page, and its figures as data."""

    page: Path
    figures: Mapping[str, Any]


def records(*tables: Table) -> dict[str, Any]:
    """Return tables as data, by their names: one mapping for each row."""
    from ..reports.kit.export import to_json

    return {table.name: json.loads(to_json(table))["rows"] for table in tables}


def carry_out(
    plan: Any,
    common: EvaluationOptions,
    present: Callable[[Path], Presented],
    *,
    folder: Path | None = None,
    doing: str = "attacking",
    warnings: Iterable[str] = (),
) -> None:
    """Evaluate, then write and print what was found; exit code 1 where an image failed."""
    from ..evaluation import evaluate
    from .progress import watch

    with watch(console, doing) as progress:
        for warning in warnings:
            progress.warn(warning)
        done = evaluate(plan, folder or common.out, common.options(), progress)
    if done.left_to:
        console.print(f"Part {common.part} is done: {done.left_to}.", soft_wrap=True)
        conclude({"folder": str(done.folder), "part": common.part, "left_to": done.left_to}, common.as_json)
        return
    presented = present(done.folder)
    console.print(f"Report: {presented.page}", soft_wrap=True)
    about = {"folder": str(done.folder), "report": str(presented.page)}
    conclude({**presented.figures, **about}, common.as_json, done.errors)


def conclude(result: Mapping[str, Any], as_json: bool, errors: Sequence[str] = ()) -> None:
    """Print the result as JSON where that is wanted, and name what failed; exit code 1 where anything did."""
    if as_json:
        show_json({**result, "errors": list(errors)})
    show_errors(errors)


def show_errors(errors: Sequence[str]) -> None:
    """Name what failed, at most ten lines; exit code 1 where anything did."""
    for line in errors[:10]:
        show_line("error:", line)
    if errors:
        console.print(f"{len(errors)} failed, {'named above' if len(errors) <= 10 else 'ten of them named above'}.")
        raise typer.Exit(1)
