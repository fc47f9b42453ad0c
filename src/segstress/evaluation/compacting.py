"""The shards of a run that is finished, joined to few files."""

from __future__ import annotations

from pathlib import Path

from ..results.run import Run
from ..results.seal import check_whole
from ..runtime.compaction import compact
from ..runtime.shard_files import shard_files
from ..runtime.sharing import share


def compact_run(folder: Path) -> tuple[int, int]:
    """Join the shards of every cell that has many; the seal stays. Return how many files there were, and are."""
    Run(folder).cells  # noqa: B018 - refuses a folder without results before it is touched
    with share(folder, ""):
        run = check_whole(Run(folder))
        before = _files(run)
        for cell in run.cells:
            compact(run.store, cell)
        return before, _files(run)


def _files(run: Run) -> int:
    return sum(len(paths) for cell in run.cells for paths in shard_files(run.store.cell_folder(cell)).values())
