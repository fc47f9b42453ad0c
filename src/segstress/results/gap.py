"""What trying much harder than a battery found on the embedded robust models, as it was measured and stored."""

from __future__ import annotations

import json

from ..models.compact import ZOO
from .study import Gap

MEASURED = ZOO / "convergence.json"  # by bench/convergence.py: a list of entries as below, gaps in points
THREAT = "linf 8/255"  # of entries that do not say it


def remaining_gap(label: str) -> Gap | None:
    """Return the largest gaps measured of a battery in this version (`strong v1`); nothing where none were."""
    try:
        entries = json.loads(MEASURED.read_text())
        same = [entry for entry in entries if f"{entry['battery']} v{entry['version']}" == label]
        gaps = [(float(entry["accuracy_gap"]), float(entry["nmiou_gap"])) for entry in same]
        models = tuple(dict.fromkeys(str(entry["model"]) for entry in same))
        threats = tuple(dict.fromkeys(str(entry.get("threat", THREAT)) for entry in same))
    except (OSError, ValueError, TypeError, KeyError):  # not measured, or not in a form that we know
        return None
    return Gap(max(gap for gap, _ in gaps), max(gap for _, gap in gaps), models, threats) if gaps else None
