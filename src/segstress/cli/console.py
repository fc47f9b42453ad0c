"""The terminal, and the short table that ends a job."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from ..reports.kit.table import Table as Figures

console = Console(width=None if sys.stdout.isatty() else 120)  # a file or pipe has no width of its own


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
            table.add_row("worst case", *map(_percent, _pick(run["worst_case"], shown)), "", style="bold")
            if any(run["worst_case_slack"].values()):
                table.add_row("spared, at most", *map(_percent, _pick(run["worst_case_slack"], shown)), "")
        console.print(table)
        if run["alone"]:
            _show_alone(run["alone"])
    console.print("Percent. Every attack figure is an upper bound on robustness.", highlight=False)


def _show_alone(alone: Mapping[str, Any]) -> None:
    """Objects and pixels attacked one by one, with intervals."""
    table = Table("each by itself", "clean", "joint worst case", "alone")
    for name in ("objects_lost", "objects_erased", "pixels_robust"):
        if name in alone:
            table.add_row(
                name.replace("_", " "), *(_interval(alone[name][state]) for state in ("clean", "joint", "alone"))
            )
    console.print(table)
    for label, passes in alone["passes"].items():
        console.print(f"{label}: {passes['forwards']} forwards, {passes['backwards']} backwards", highlight=False)


def _interval(share: Mapping[str, float | None]) -> str:
    value, low, high = (_percent(share[key]) for key in ("value", "low", "high"))
    return value if share["value"] is None else f"{value} [{low}, {high}]"


def show_table(table: Figures) -> None:
    """A table of a report, with its title and note."""
    from ..reports.kit.export import show

    drawn = Table(*(column.title for column in table.columns), title=table.title, title_justify="left")
    kinds = [column.kind for column in table.columns]
    for row in table.rows:
        drawn.add_row(*(show(cell, kind) for cell, kind in zip(row, kinds, strict=True)))
    console.print(drawn)
    console.print(table.note, highlight=False)


def _pick(values: Mapping[str, Any], names: Sequence[str]) -> list[float | None]:
    return [values.get(name) for name in names]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"
