"""The terminal, and the short table that ends a job."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ..reports.kit.table import Table as Figures

# A file or pipe has no width of its own. Names of files are printed as they are, whatever brackets they hold.
LITERAL: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
console = Console(width=None if sys.stdout.isatty() else 120, **LITERAL)
FIGURE = 9  # characters that are never broken into lines: a figure, or a word above it
complaints = Console(stderr=True, **LITERAL)  # where what is printed is for programs


def be_quiet(quiet: bool) -> None:
    """Print nothing but JSON and lines that say what is wrong, or everything again."""
    console.quiet = quiet


def leave_stdout(wanted: bool) -> None:
    """Print what is for people to the errors, where the output is for programs, or to the output again."""
    console.stderr = wanted


def show_json(plain: Any) -> None:
    """Print data for programs; null where a number has no value."""
    sys.stdout.write(json.dumps(_finite(plain), indent=1) + "\n")


def _finite(plain: Any) -> Any:
    if isinstance(plain, Mapping):
        return {key: _finite(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_finite(value) for value in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def show_line(word: str, text: str, style: str = "red", to: Console = console) -> None:
    """Print one line that begins with a coloured word; in a quiet run too, where it goes to the errors."""
    if to.quiet:
        sys.stderr.write(f"{word} {text}\n")
        return
    to.print(Text.assemble((word, style), f" {text}"), soft_wrap=True)


def duration(seconds: float) -> str:
    """Say how long something takes, in the unit that people would use."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def show_summary(figures: Mapping[str, Any]) -> None:
    """Clean, every perturbation and the worst case, in percent."""
    for run in figures["runs"]:
        under = f" under {run['battery']}" if run["battery"] else ""
        shown = run["headline"]
        table = Table("", *shown, "forwards", title=f"{run['model']} on {run['data']}{under}", title_justify="left")
        table.add_row("clean", *map(_percent, _pick(run["clean"], shown)), "")
        for label, values in run["perturbations"].items():
            table.add_row(label, *map(_percent, _pick(values, shown)), str(values["forwards"]))
        if run["perturbations"]:
            title = "worst case" if run["complete"] else "worst case, at most"
            table.add_row(title, *map(_percent, _pick(run["worst_case"], shown)), "", style="bold")
            if any(run["worst_case_slack"].values()):
                table.add_row("spared, at most", *map(_percent, _pick(run["worst_case_slack"], shown)), "")
        show_grid(table)
        for line in filter(None, (run["first_look"], *run["checkup"])):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
        for alarm in run["alarms"]:
            console.print(Text(alarm, style="red"), soft_wrap=True)
        if run["alone"]:
            _show_alone(run["alone"])
    for seals in dict.fromkeys((run["seal"], run["environment_seal"]) for run in figures["runs"] if run["seal"]):
        console.print("Seal {}, of the environment {}.".format(*seals), soft_wrap=True)
    console.print("Percent. Every attack figure is an upper bound on robustness.")


def show_grid(table: Table) -> None:
    """Print a table of which nothing is cut: long names go on in the next line, figures stay whole.

    Where the terminal is too narrow for that, every row is a sentence."""
    for column in table.columns:
        words = [*map(str, column.cells), *str(column.header).split()]
        column.overflow = "fold"
        column.min_width = min(FIGURE, max(map(len, words), default=0))
    if max(map(Segment.get_line_length, Segment.split_lines(console.render(table)))) <= console.width:
        console.print(table)
        return
    console.print(table.title or "", style="bold")
    headings = [str(column.header) for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        pairs = zip(headings, map(str, row), strict=True)
        console.print("; ".join(f"{heading} {cell}".strip() for heading, cell in pairs if cell))


def _show_alone(alone: Mapping[str, Any]) -> None:
    """Objects and pixels attacked one by one, with intervals."""
    table = Table("each by itself", "clean", "joint worst case", "alone")
    for name in ("objects_lost", "objects_erased", "pixels_robust"):
        if name in alone:
            table.add_row(
                name.replace("_", " "), *(_interval(alone[name][state]) for state in ("clean", "joint", "alone"))
            )
    show_grid(table)
    for label, passes in alone["passes"].items():
        console.print(f"{label}: {passes['forwards']} forwards, {passes['backwards']} backwards")


def _interval(share: Mapping[str, float | None]) -> str:
    value, low, high = (_percent(share[key]) for key in ("value", "low", "high"))
    return value if share["value"] is None else f"{value} [{low}, {high}]"


def show_table(table: Figures) -> None:
    """Print a table of a report, with its title and note."""
    from ..reports.kit.export import show

    drawn = Table(*(column.title for column in table.columns), title=table.title, title_justify="left")
    kinds = [column.kind for column in table.columns]
    for row in table.rows:
        drawn.add_row(*(show(cell, kind) for cell, kind in zip(row, kinds, strict=True)))
    show_grid(drawn)
    console.print(table.note)


def _pick(values: Mapping[str, Any], names: Sequence[str]) -> list[float | None]:
    return [values.get(name) for name in names]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"
