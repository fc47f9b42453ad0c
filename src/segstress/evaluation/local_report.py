"""The page of localized damage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core import BadInput
from ..reports.local.page import write_local
from ..results.local_results import read_local, scenes


def spatial_report(folder: Path, out: Path | None = None, extra: Mapping[str, Any] | None = None) -> Path:
    """Write the page of localized damage; its path. Extra tables and drawings come first."""
    results = read_local(folder)
    if not results:
        raise BadInput(f"{folder} holds no corruption and no localized attack; expected a run of segstress spatial")
    return write_local(out or folder / "spatial", folder.resolve().name, results, scenes(folder), **(extra or {}))
