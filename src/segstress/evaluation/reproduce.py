"""A paper's figures beside ours: what a finished run says, under the names that the published figures have."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path

from ..core import BadInput, format_radius
from ..planning.papers import Page
from ..planning.published import PublishedModel
from ..reports.kit.table import Column, Rows, Table
from ..reports.minimal.tables import groups, unit
from ..reports.study.assessment import CLEAN, assess
from ..reports.study.figure_names import figures, selected_figures
from ..results.local import HEADLINE
from ..results.local_results import read_local
from ..results.minimal import read_minimal
from ..results.run import Run
from .report import studies

RANKING = "report/ranking.json"  # of a competition


def compare(paper: PublishedModel, ours: Mapping[str, float], about: str) -> Table:
    """Tabulate each published figure, ours and how far ours is from it; empty where the run has none."""
    columns = (
        Column("figure", "Figure"),
        Column("published", "Published", "number"),
        Column("ours", "Ours", "number"),
        Column("deviation", "Deviation", "number"),
    )
    rows: Rows = tuple(
        (name, value, ours.get(name, math.nan), ours.get(name, math.nan) - value)
        for name, value in paper.figures.items()
    )
    return Table("published", about, columns, rows, f"Published: {paper.source}. Deviation: ours minus published.")


def measured(folder: Path, page: Page) -> dict[str, float]:
    """Return the figures of a run in the units of its paper."""
    return OURS[page](folder)


def _studied(folder: Path) -> dict[str, float]:
    """Return clean figures, and the worst case at each radius, in percent."""
    ours: dict[str, float] = {}
    for study in studies([folder]):
        assessment = assess(study)
        ours |= {f"clean {figure}": 100 * assessment.score(figure, CLEAN) for figure in figures()}
        if study.eps is not None:
            radius = format_radius(study.eps)
            every = (*figures(), *selected_figures())
            ours |= {f"{radius} {figure}": 100 * assessment.worst_score(figure) for figure in every}
    return ours


def _searched(folder: Path) -> dict[str, float]:
    """Return the median and mean size of every attack, failures as the longest."""
    ours: dict[str, float] = {}
    for (_, _, norm, _, attack), results in groups(read_minimal(Run(folder))).items():
        sizes = sorted(unit(norm) * result.counted for result in results)
        middle = len(sizes) // 2
        median = sizes[middle] if len(sizes) % 2 else (sizes[middle - 1] + sizes[middle]) / 2
        ours |= {f"{attack} median": median, f"{attack} mean": sum(sizes) / len(sizes)}
    return ours


def _damaged(folder: Path) -> dict[str, float]:
    """Return class-mean accuracy inside and outside of the half of the patches that the paper's table has."""
    ours: dict[str, float] = {}
    for result in read_local(Run(folder)):
        if result.ratio == 0.5:
            ours["clean"] = 100 * result.score(HEADLINE, "all", "clean")
            done = f"{result.what} {result.strength}"
            ours |= {f"{done} {zone}": 100 * result.score(HEADLINE, zone) for zone in ("inside", "outside")}
    return ours


OURS: dict[str, Callable[[Path], dict[str, float]]] = {"study": _studied, "minimal": _searched, "spatial": _damaged}


def places(folder: Path) -> dict[str, float]:
    """Return the places of a finished competition's models, by aggressiveness and resistance."""
    path = folder / RANKING
    if not path.is_file():
        raise BadInput(
            f"{path} does not exist; expected a finished competition of the paper's models under the paper's names:"
            " segstress mad index, mad predict, mad compare, mad select and mad rank, then --out <its folder>"
        )
    rankings = json.loads(path.read_text())["rankings"]
    return {
        f"{measure} {model}": float(figures["rank"])
        for measure, by_model in rankings.items()
        for model, figures in by_model.items()
    }
