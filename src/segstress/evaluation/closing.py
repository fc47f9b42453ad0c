"""The end of a run: its seal, what is to be said of it, and who is to write its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from ..doctor import Diagnosis, keep_notes
from ..results.run import Run
from ..results.seal import SEAL, seal_run
from ..runtime import Cell, Progress
from ..runtime.compaction import compact
from ..runtime.sharing import PartProcess, Sharing
from .rounding import round_off
from .worker import Worker

LAST = "whoever is last writes the report, and segstress merge joins folders of parts that do not share one"
COLUMNS = ("image", "status", "message")


@dataclass(frozen=True)
class FinishedRun:
    """A folder of results and what went wrong on the way."""

    folder: Path
    errors: tuple[str, ...]  # images that could not be answered
    notes: tuple[str, ...]  # images that were converted or skipped
    left_to: str = ""  # who does the rest, where this process was one of several and not the last


def close(
    run: Run,
    cells: Sequence[Cell],
    worker: Worker,
    before: Sequence[Diagnosis],
    progress: Progress,
    sharing: Sharing,
) -> FinishedRun:
    """Seal a run that has an answer of every image, unless another process has done so or has units left to do."""
    if isinstance(sharing, PartProcess):
        if (run.folder / SEAL).exists():
            return FinishedRun(run.folder, (), (), "another part has finished the run, and writes the report")
        if not sharing.complete:
            keep_notes(run.folder, before)  # for whoever joins the parts
            return FinishedRun(run.folder, (), (), f"{sharing.left_to()}; {LAST}")
    if sharing.alone:  # other parts may still read what they have seen
        for cell in run.cells:
            compact(run.store, cell)
    after = round_off(run, cells, worker)
    tell(after, progress)
    keep_notes(run.folder, [*before, *after])
    seal_run(run)
    done = FinishedRun(run.folder, *_messages(run))
    for note in done.notes:
        progress.warn(note)
    return done


def tell(diagnoses: Sequence[Diagnosis], progress: Progress) -> None:
    """Say all that speaks against a run."""
    for line in (line for diagnosis in diagnoses for line in diagnosis.lines()):
        progress.warn(line)


def _messages(run: Run) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return every image that failed, with the reason; and what else is to be said of images, each once."""
    errors: dict[str, None] = {}
    said: dict[str, set[str]] = {}
    for cell in run.cells:
        images = run.images(cell)
        messages = images.filter(pc.and_(pc.not_equal(images["message"], ""), pc.equal(images["finisher"], "")))
        for image, status, message in zip(*(messages[name].to_pylist() for name in COLUMNS), strict=True):
            if status == "error":
                errors[f"{image}: {message}"] = None
            else:
                said.setdefault(message, set()).add(image)
    notes = [
        f"{note} ({min(images)}{f' and {len(images) - 1} more' if len(images) > 1 else ''})"
        for note, images in said.items()
    ]
    return tuple(errors), tuple(sorted(notes))
