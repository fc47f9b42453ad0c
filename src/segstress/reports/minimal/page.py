"""The page of smallest changes: figures, what they mean, and every number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...results.minimal import Find
from ..kit.export import to_csv, to_latex
from ..kit.naming import plural
from ..kit.table import Table
from ..kit.templating import render
from .figures import curves
from .tables import BEST, PLACE, costs, listing, places, smallest, table, unit

LISTED = 60  # rows of a table in the page; its files have all
HIDDEN = {
    "minimal": ("forwards", "backwards"),
    "minimal-best": ("raw_size", "forwards", "backwards", "seconds"),
}  # columns that only the files have


def write_page(finds: Sequence[Find], folder: Path, title: str, remarks: Sequence[str]) -> Path:
    """Write tables, figures and the page; the path of the page."""
    for part in ("tables", "figures"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    best = listing(smallest(finds), "minimal-best", "The smallest change of every image")
    tables = [table(finds), costs(finds), best, listing(finds, "minimal-finds", "Every image under every attack")]
    for each in tables:
        for suffix, text in (("csv", to_csv(each)), ("tex", to_latex(each))):
            (folder / "tables" / f"{each.name}.{suffix}").write_text(text, encoding="utf-8")
    drawings = curves(finds)
    for drawing in drawings:
        for suffix, data in (("svg", drawing.svg), ("pdf", drawing.pdf)):
            (folder / "figures" / f"{drawing.name}.{suffix}").write_bytes(data)
    page = folder / "index.html"
    text = render(
        "minimal.html",
        title=title,
        headlines=headlines(finds),
        remarks=remarks,
        drawings=drawings,
        **dict(zip(("sizes", "costs", "best", "every"), tables, strict=True)),
        listed=LISTED,
        hidden={each.name: (*HIDDEN.get(each.name, ()), *_same(each)) for each in tables},
    )
    page.write_text(text, encoding="utf-8")
    return page


def _same(table: Table) -> list[str]:
    """Columns that say where and have nothing to tell apart: the headlines name it."""
    columns = zip(table.columns, zip(*table.rows, strict=True), strict=True)
    return [column.key for column, cells in columns if column in PLACE and len(set(cells)) == 1]


def headlines(finds: Sequence[Find]) -> list[str]:
    """One sentence for each model, dataset, norm and threshold."""
    said = []
    for (model, data, norm, threshold), attacks in places(finds).items():
        members = attacks.get(BEST) or next(iter(attacks.values()))
        broken = [unit(norm) * find.size for find in members if find.success]
        size = f"{np.median(broken):.3g}" if broken else ""
        words = {"linf": f"a linf change of {size}/255", "l0": f"{size} changed pixels"}.get(norm, f"{norm} {size}")
        start = f"{model} on {data}: {len(broken)} of {plural(len(members), 'image')} broken ({threshold} of pixels)"
        said.append(f"{start}, at the median by {words}." if broken else f"{start}.")
    return said
