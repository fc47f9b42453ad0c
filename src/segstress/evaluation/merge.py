"""Parts of one run that were made in folders of their own, joined into one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..core import BadInput, to_plain
from ..core.files import write
from ..results.run import Run
from ..results.seal import NOTES, check_whole, seal_run
from ..results.studies import CHOICE, read_choices
from ..runtime import record_elsewhere
from ..runtime.compaction import compact
from ..runtime.shard_files import shard_files
from ..runtime.sharing import share
from ..runtime.store import ASKED

BEGINNING = ("plan.yaml", ASKED, CHOICE, NOTES, "environment.json")  # files that all parts have alike, if they do


def merge(folders: Sequence[Path], out: Path) -> int:
    """Join folders that were made by the same plan; sealed where nothing is missing. Return how many answers are."""
    if out.exists() and any(out.iterdir()):
        raise BadInput(f"{out} is not empty; expected a new folder: choose another --out")
    runs = [check_whole(Run(folder)) for folder in folders]
    for run in runs[1:]:
        _refuse_unlike(runs[0], run)
    with share(out, ""):
        for name in BEGINNING:
            source = next((run.folder / name for run in runs if (run.folder / name).exists()), None)
            if source is not None:
                write(out / name, source.read_bytes())
        for number, run in enumerate(runs):
            _copy(run, out, number)
            for there in (run.environment, *run.environment.get("earlier", ())):
                record_elsewhere(out, {key: there[key] for key in ("versions", "machine", "host")})
        merged = check_whole(Run(out))
        wanted = [cell for cell in merged.cells if _is_wanted(merged, cell.key)]
        missing = sum(len(merged.store.missing(cell, merged.expected(cell))) for cell in wanted)
        if not missing:
            for cell in merged.cells:
                compact(merged.store, cell)
            seal_run(merged)
    return missing


def _refuse_unlike(first: Run, other: Run) -> None:
    """Refuse a run of another plan, by the name of what differs."""
    plans = [to_plain(run.plan) for run in (first, other)]
    changed = [key for key in plans[0] if plans[0][key] != plans[1].get(key)]
    if changed:
        raise BadInput(f"{first.folder} and {other.folder} have different plans ({', '.join(changed)} differ)")
    for name in (ASKED, CHOICE):
        paths = [run.folder / name for run in (first, other)]
        if all(path.exists() for path in paths) and paths[0].read_bytes() != paths[1].read_bytes():
            raise BadInput(f"{paths[0]} and {paths[1]} differ: other weights, images or attacks were looked at")


def _copy(run: Run, out: Path, number: int) -> None:
    """Copy what a run has answered; that of the checksums comes last, and makes a shard count."""
    for cell in run.cells:
        source, target = run.store.cell_folder(cell), out / "cells" / cell.key
        write(target / "cell.json", (source / "cell.json").read_bytes())
        for paths in shard_files(source).values():
            for path in sorted(paths, key=lambda path: path.name.startswith("sums-")):
                _copy_file(path, target / path.name)
    for path in run.folder.glob("timings*.csv"):
        write(out / f"{path.stem}-{number + 1}.csv", path.read_bytes())


def _copy_file(path: Path, target: Path) -> None:
    data = path.read_bytes()
    if target.exists() and target.read_bytes() != data:
        raise BadInput(f"{path} clashes with what another folder holds under {target.parent.name}/{target.name}")
    write(target, data)


def _is_wanted(run: Run, key: str) -> bool:
    """Tell whether a cell was to answer all images: an audit may have dropped it after a sample."""
    return not any(key in choice.dropped for choice in read_choices(run.folder))
