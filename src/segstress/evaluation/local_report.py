"""The page of localized damage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core import BadInput
from ..reports.local.page import write_local
from ..results.lacking import alarms
from ..results.local import LocalResult
from ..results.local_results import read_local, scenes
from ..results.records import read_record
from ..results.run import Run
from ..results.seal import check_whole
from ..results.strikes import read_strikes


def spatial_report(
    run: Run, results: Sequence[LocalResult] | None = None, warnings: Sequence[str] = (), **extra: Any
) -> Path:
    """Write the page of localized damage; its path. Extra tables and drawings come first."""
    check_whole(run)
    results = read_local(run) if results is None else results
    if not results:
        raise BadInput(f"{run.folder} holds no corruption and no localized attack; expected a run of segstress spatial")
    about: dict[str, Any] = {"alarms": list(alarms(run)), "warnings": warnings, "record": read_record(run)}
    about |= {"strikes": read_strikes(run), **extra}
    return write_local(run.folder / "spatial", run.folder.resolve().name, results, scenes(run), **about)
