"""The report of a search for smallest changes."""

from __future__ import annotations

from pathlib import Path

from ..reports.kit.table import Table
from ..reports.minimal.page import write_minimal
from ..reports.minimal.tables import table
from ..results.minimal import read_minimal
from ..results.run import Run


def report(folder: Path, one_trajectory: bool = False) -> Path:
    """Write page, tables and curves into the run's report folder; the path of the page."""
    found = read_minimal(folder, one_trajectory)
    return write_minimal(found, folder / "report", folder.resolve().name, _remarks(folder, one_trajectory))


def summed_up(folder: Path, one_trajectory: bool = False) -> Table:
    """The table of sizes."""
    return table(read_minimal(folder, one_trajectory))


def _remarks(folder: Path, one_trajectory: bool) -> list[str]:
    """What a reader must know of the way of the run."""
    run, remarks = Run(folder), []
    if run.environment["numerics"].get("fold"):
        remarks.append(
            "Gradients came from a copy of the model with BatchNorm folded into its convolutions, where that changed no"
            " logit by more than 0.001; every result was judged by the model itself."
        )
    if one_trajectory:
        remarks.append("Lower thresholds are also shown from runs that were aimed at a higher one, and named so.")
    missed = sum(len(run.ids(cell, "error", "skipped")) for cell in run.cells)
    if missed:
        remarks.append(f"{missed} answers are missing because their image was skipped or could not be used.")
    return remarks
