"""Where the figures of one model on one dataset come from."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..runtime import Cell
from .run import Run


def provenance(run: Run, clean: Cell) -> Mapping[str, str]:
    """Return where the figures of a model on a dataset come from."""
    environment, preprocess = run.environment, clean.model.get("preprocess")
    named = {"preprocess": f"{preprocess}, straight-through gradient"} if preprocess else {}
    return {
        "model": json.dumps(clean.model),
        **named,
        "model hash": clean.fingerprints["model"],
        "data": json.dumps(clean.data),
        "data hash": clean.fingerprints["data"],
        "seed": str(clean.seed),
        "numerics": ", ".join(f"{key} {value}" for key, value in environment["numerics"].items()),
        "versions": ", ".join(f"{key} {value}" for key, value in environment["versions"].items()),
        "machine": ", ".join(environment["machine"].values()),
    }
