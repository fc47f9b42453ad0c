"""The page of localized damage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core import BadInput
from ..reports.kit.naming import percent
from ..reports.local.figures import drawings
from ..reports.local.page import write_page
from ..reports.local.tables import attacked, common, masks, overview, scores
from ..results.local import HEADLINE, Spot
from ..results.local_results import scenes, spots


def spatial_report(folder: Path, out: Path | None = None, extra: Mapping[str, Any] | None = None) -> Path:
    """Write the page of localized damage; its path. Extra tables and drawings come first."""
    found = spots(folder)
    if not found:
        raise BadInput(f"{folder} holds no corruption and no localized attack; expected a run of segstress spatial")
    local = [spot for spot in found if spot.region and spot.goal == "any" and not spot.corner]
    given = extra or {}
    tables = [*given.get("tables", ()), overview(local), attacked(found), common(found), masks(found), scores(found)]
    figures = [*given.get("drawings", ()), *drawings(found)]
    return write_page(
        out or folder / "spatial", folder.resolve().name, headline(found), tables, figures, scenes(folder)
    )


def headline(found: Sequence[Spot]) -> str:
    """The run in one sentence: where damage to a part hurts the rest most."""
    outside = [spot for spot in found if not math.isnan(spot.rce(HEADLINE, "outside"))]
    zone, judged = ("outside", outside) if outside else ("all", list(found))
    worst = max(judged, key=lambda spot: spot.rce(HEADLINE, zone))
    place = "outside of what was damaged" if outside else "on the whole image"
    lost = percent(worst.rce(HEADLINE, zone))
    return f"{worst.model} loses up to {lost} % of its class-mean accuracy {place} ({worst.what} {worst.strength})."
