"""What a run lacks, in sentences for the top of a page: its figures are over the other images alone."""

from __future__ import annotations

from collections.abc import Iterator

from .run import Run

NAMED = 5  # images that a sentence names


def alarms(run: Run) -> Iterator[str]:
    """Yield a sentence for every cell that is gone or has no answer of some image."""
    for cell in run.absent:
        yield f"INCOMPLETE: nothing is stored of {cell.label}; run the same command again."
    for cell in run.cells:
        lacking = run.missing(cell)
        if lacking:
            more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
            yield (
                f"INCOMPLETE: {cell.label} has no answer of {len(lacking)} of {len(run.expected(cell))} images"
                f" ({', '.join(lacking[:NAMED])}{more}), which its figures leave out; run the same command again, with"
                " --retry-errors for those that failed."
            )
