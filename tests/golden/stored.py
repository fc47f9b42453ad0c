"""Where golden outputs lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def stored_deltas() -> dict[str, Any]:
    """What each attack made when it was stored."""
    return json.loads((FOLDER / "deltas.json").read_text())


def stored_tables(name: str) -> dict[str, str]:
    """The tables of a run when they were stored."""
    return {path.name: path.read_text() for path in sorted((FOLDER / "tables" / name).glob("*.csv"))}
