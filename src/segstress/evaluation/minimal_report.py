"""The report of a search for smallest changes."""

from __future__ import annotations

from pathlib import Path

from ..reports.kit.table import Table
from ..reports.minimal.gallery import scenes
from ..reports.minimal.page import write_minimal
from ..reports.minimal.tables import table
from ..results.lacking import alarms
from ..results.minimal import read_minimal
from ..results.minimal_frames import palettes, read_frames
from ..results.records import read_record
from ..results.run import Run
from ..results.seal import check_whole


def report(folder: Path, one_trajectory: bool = False) -> tuple[Table, Path]:
    """Write page, tables and curves into the run's report folder; the table of sizes and the page."""
    run = check_whole(Run(folder))
    results = read_minimal(run, one_trajectory)
    pictures = scenes(results, read_frames(run), palettes(run))
    words = _remarks(run, one_trajectory), list(alarms(run))
    page = write_minimal(results, folder / "report", folder.resolve().name, *words, pictures, read_record(run))
    return table(results), page


def _remarks(run: Run, one_trajectory: bool) -> list[str]:
    """Return what a reader must know of the way of the run."""
    remarks = []
    if run.environment["numerics"].get("fold"):
        remarks.append(
            "Gradients came from a copy of the model with BatchNorm folded into its convolutions, where that changed no"
            " logit by more than 0.001; every result was judged by the model itself."
        )
    if one_trajectory:
        remarks.append("Lower thresholds are also shown from runs that were aimed at a higher one, and named so.")
    skipped = {id_ for cell in run.cells for id_ in run.ids(cell, "skipped")}
    if skipped:
        remarks.append(f"{len(skipped)} images were skipped: they have no valid pixel.")
    return remarks
