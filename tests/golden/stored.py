"""Where golden outputs lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DELTAS, CHANGES = FOLDER / "deltas.json", FOLDER / "changes.json"


def stored(path: Path) -> dict[str, Any]:
    """What each attack or corruption made when it was stored."""
    return json.loads(path.read_text())


def stored_tables(name: str) -> dict[str, str]:
    """The tables of a run when they were stored."""
    return {path.name: path.read_text() for path in sorted((FOLDER / "tables" / name).glob("*.csv"))}
